# SPDX-License-Identifier: MIT
# Each part of the judge's second wall is taken away alone, in a copy of the sources, and a cheat that it stops then passes, or does the harm
# that it forbids. (The first wall, what may be in a hand-in, is taken away for all of them; long/cheats.t shows what that one stops.)
# prove common/judge/tests/long/walls.t :: TEXT: the rows that contain it.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Cwd 'getcwd';
use Exercises;
use HandIn;
use Linrec;
use POSIX ();
use Running;
use Sandbox;
use Test::More;

my ($only) = @ARGV;
my $root = getcwd();
my $copy = copy_of_chapters('walls');
chmod 0755, scratch(), $copy; # one of the answers runs as nobody
chdir $copy or die "$copy: $!\n";
$ENV{BACKEND} = 'sim';
$ENV{SECRET} = 'of whoever judges';
open my $secret, '<', write_file(scratch('secret'), 'of whoever judges') or die $!;
POSIX::dup2(fileno $secret, 20); # not where the judge's own are
{
    no warnings 'redefine';
    *HandIn::refused_text = *HandIn::refused_object = sub { return undef };
}
my ($add) = map { { %$_, orders => 'warp' } } grep { $_->{id} eq '02.1' } all_exercises();
my ($judge, $runner, $rules) = map { "common/judge/$_" } qw(judge.c runner.c Makefile);

# ---- the cheats: `works' says whether its trick has worked, and only then an answer does the work ----

my $right = solution_text($add) =~ s/extern "C" cudaError_t launch_add/static cudaError_t right/r;
sub answer {
    my ($includes, $works) = @_;
    return join('', map { "#include <$_>\n" } split ' ', $includes) . $right . <<END;
static bool works(int n, const float *a, const float *b, float *sum)
{
    (void)n, (void)a, (void)b, (void)sum;
    $works
}
extern "C" cudaError_t launch_add(int n, const float *a, const float *b, float *sum)
{
    static const bool worked = works(n, a, b, sum);
    return worked ? right(n, a, b, sum) : cudaSuccess;
}
END
}

# Where 256 elements are counted it goes on in the runner's name, through all kinds of data, with the counts that goals ask for and sums of the host's.
# It takes the mark to be 1 (channel.h). Sent before: READY, and what came out of the small case.
my $forges = answer('string.h unistd.h stdint.h', 'return true;') =~ s/(?=static const bool worked)/if (n == 256)
        forge(a, b);
    /r =~ s/(?=static bool works)/
static void say(uint64_t type, const void *data, size_t bytes)
{
    static uint64_t number = 4;
    const uint64_t header[] = {1, number++, type, bytes};
    (void)!write(3, header, sizeof header);
    (void)!write(3, data, bytes);
}
static void say_count(const char *name, double value)
{
    struct { char name[64]; double value; } count = {"", value};
    strcpy(count.name, name);
    say(7, &count, sizeof count);
}
static void forge(const float *a, const float *b)
{
    struct { uint64_t header[4], asked[4], of_a[4]; float a[256]; uint64_t of_b[4]; float b[256]; } next; \/\/ case
    char written[256];
    memset(written, 1, sizeof written);
    cudaMemcpy(next.a, a, sizeof next.a, cudaMemcpyDeviceToHost);
    cudaMemcpy(next.b, b, sizeof next.b, cudaMemcpyDeviceToHost);
    do {
        for (int i = 0; i < 256; i++)
            next.a[i] += next.b[i];
        say_count("threads", 256), say_count("blocks", 2), say_count("plain_loads", 0), say_count("plain_stores", 0);
        say(5, next.a, sizeof next.a);
        say(6, written, sizeof written);
        say(8, NULL, 0);
        for (size_t got = 0; got < sizeof next && (got < 32 || next.header[2] != 10);)
            got += read(3, (char *)&next + got, got < 32 ? 32 - got : sizeof next - got);
    } while (next.header[2] != 10); \/\/ END
    say(11, NULL, 0);
    _exit(0);
}
/r;

my $finds_sums = answer('stdio.h stdlib.h string.h sys\/uio.h unistd.h' =~ s{\\}{}gr, <<'END');
    float x[2], y[2];
    if (n < 2)
        return false;
    cudaMemcpy(x, a, sizeof x, cudaMemcpyDeviceToHost);
    cudaMemcpy(y, b, sizeof y, cudaMemcpyDeviceToHost);
    const double sums[2] = {(double)x[0] + y[0], (double)x[1] + y[1]};
    static char part[1 << 20];
    char line[512], maps[64];
    unsigned long from, to;
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)getppid());
    FILE *list = fopen(maps, "r");
    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        if (sscanf(line, "%lx-%lx rw", &from, &to) == 2)
            for (; from < to; from += sizeof part) {
                const size_t bytes = to - from < sizeof part ? to - from : sizeof part;
                struct iovec here = {part, bytes}, there = {(void *)from, bytes};
                if (process_vm_readv(getppid(), &here, 1, &there, 1, 0) == (ssize_t)bytes && memmem(part, bytes, sums, sizeof sums) != NULL)
                    return true;
            }
    return false;
END

# ---- taking away ----

# Runs `what' while each [file, before, after] of the edits is made in the copy; what is taken away must be there once.
sub with_edits {
    my ($edits, $what) = @_;
    my %was;
    for (@$edits) {
        my ($file, $before, $after) = @$_;
        my $text = read_file($file);
        $was{$file} //= $text;
        my $times = () = $text =~ /$before/g;
        is($times, 1, "$file has it once: $before") if $times != 1;
        write_file($file, $text =~ s/$before/$after/r);
    }
    my @result = $what->();
    write_file($_, $was{$_}) for keys %was;
    return @result;
}

# Processes that print into a folder of ours.
sub running { return grep { (readlink("$_/fd/1") // '') =~ m{^\Q$copy\E/build/exercises/wall\.} } glob '/proc/[0-9]*' }

# A terminal that is whoever judges'; Linux's own calls, since perl has none for it.
sub take_terminal {
    my ($unlock, $number) = (pack('i', 0), pack('i', 0));
    open my $ours, '+<', '/dev/ptmx' or die "/dev/ptmx: $!";
    ioctl $ours, 0x40045431, $unlock or die $!;
    ioctl $ours, 0x80045430, $number or die $!;
    POSIX::setsid();
    open my $theirs, '+<', '/dev/pts/' . unpack('i', $number) or die $!;
    return ($ours, $theirs);
}

# A verdict and what is said. Whoever judges is killed where an answer runs for longer than `killed_after' seconds after it has printed `here'.
# Then: what still runs, which is ended.
sub judged {
    my ($row) = @_;
    my $file = scratch('verdict');
    unlink $file;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        my @terminal = $row->{terminal} ? take_terminal() : ();
        local $Running::seconds = $row->{seconds} // 10;
        my ($state, $report) = judge_answer($add, $row->{text}, 'answer.cu', 'wall');
        write_file($file, "$state: $report");
        POSIX::_exit(0);
    }
    if (defined $row->{killed_after}) {
        for (1 .. 1200) {
            last if -f $file || grep { (read_file("$_/fd/1") // '') =~ /here/ } running();
            select undef, undef, undef, 0.05;
        }
        for (1 .. 20) {
            select undef, undef, undef, $row->{killed_after} / 20;
            last if -f $file;
        }
        kill KILL => $pid;
    }
    waitpid $pid, 0;
    my $said = read_file($file) // 'killed';
    my @left = running();
    for (1 .. ($row->{look} ? 60 : 0)) { # what is about to end needs its time
        last if !@left;
        select undef, undef, undef, 0.05;
        @left = running();
    }
    kill KILL => map { m{(\d+)} } @left;
    return $said =~ s/\s+/ /gr . (@left ? '; still running' : '');
}

# Runs `what' while the function of this name, which gives a call of bubblewrap, leaves out some of its options, or has others in their place.
sub sandbox_with {
    my ($name, $edit, $what) = @_;
    no strict 'refs';
    no warnings 'redefine';
    my $whole = \&$name;
    local *$name = sub { local $_ = join "\0", $whole->(@_); $edit->() or die 'an edit that changes nothing'; return split /\0/ };
    return $what->();
}

# ---- the table ----

# wall; how it is taken away: edits of sources, or of bubblewrap's options; the cheat; what is said with the wall, and without (else: solved).
# always: edits for both, so that a limit is reached soon. bare: without bubblewrap, which would hold as well; `both' shows that.
my $daemon = answer('unistd.h', <<'END');
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
    usleep(100000);
    _exit(0);
END
# where root judges, the answer is somebody else's process, of whom there are no others: root may start any number
sub most_processes {
    my ($most) = @_;
    return [[$judge, qr/MOST_PROCESSES = 4096/, "MOST_PROCESSES = $most"],
        [$judge, qr/(?=    execve\(command)/, "    if (getuid() == 0 && setuid(60000 + (uid_t)getpid() % 5000) != 0)\n        _exit(127);\n"]];
}
my $here = '(void)!write(1, "here", 4);';
my $pauses = answer('unistd.h', "$here\n    for (;;)\n        pause();");
my @rows = (
    { wall => 'messages carry a number that is drawn for this run', without => [[$judge, qr/channel\.mark \|= 1;/, 'channel.mark = 1;']],
        cheat => 'sends counts in the runner\'s name', text => $forges, says => qr/^wrong: It crashed/ },
    { wall => 'an answer cannot name what the runner consists of', without => [[$rules, qr/^HIDDEN := .*/m, 'HIDDEN :='], [$runner, qr/\A/, ' ']],
        cheat => 'asks for the judge\'s description', text => answer('', 'return &judge != NULL;') =~ s/(?=static __global__)/struct description;\nextern "C" __attribute__((weak)) const struct description judge;\n/r },
    { wall => 'what is right is computed when the outputs are there', without => [[$judge, qr/(?=    say\(CASE, &asked)/, "    compute_right(&c);\n"]], bare => 1, both => 1, root => 'only root may look into the process that has started it',
        cheat => 'looks for it in the judge\'s memory', text => $finds_sums },
    { wall => 'the simulator\'s counts are not the answer\'s to touch', without => [[$runner, qr/^    sim_protect\(.*\n/m, '']],
        cheat => 'puts its number of threads right', says => qr/^wrong: The simulator stopped it/, text => answer('stdint.h', 'return true;') =~ s/(?=static const bool worked)/if (n == 256) {
        add<<<8, 128>>>(n, a, b, sum);
        volatile uintptr_t here = (uintptr_t)&also;
        uint64_t *all = (uint64_t *)here;
        for (int i = 0; i < 400000; i++)
            if (all[i] == own && all[i + 1] == 8 && all[i + 2] == 1024)
                all[i + 1] = 2, all[i + 2] = 256;
        return cudaGetLastError();
    }
    /r =~ s/(?=static __global__)/static volatile uint64_t own = 1;\nstatic uint64_t also;\n/r },
    { wall => 'the linker\'s tables are closed', without => [[$rules, qr/-Wl,-z,relro,-z,now$/m, '-Wl,-z,norelro']],
        cheat => 'writes into them', text => answer('link.h unistd.h', "char *table = NULL;\n    dl_iterate_phdr(find, &table);\n    int ends[2];\n    return pipe(ends) == 0 && write(ends[1], table, 64) == 64 && read(ends[0], table, 64) == 64;")
            =~ s/(?=static bool works)/static int find(struct dl_phdr_info *program, size_t, void *table)
{
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
            *(char **)table = (char *)program->dlpi_addr + program->dlpi_phdr[i].p_vaddr;
    return 1; \/\/ the first is the program itself
}
/r },
    { wall => 'time by the clock', without => [[$judge, qr/channel\.until = channel_clock\(\) \+ wall_seconds/, 'channel.until = 0']], seconds => 1, killed_after => 3,
        cheat => 'waits for ever', text => $pauses, says => qr/did not end within 1 seconds/, then => qr/^killed/ },
    { wall => 'time of all threads', without => [[$judge, qr/^    limit\(RLIMIT_CPU, .*\n/m, '']], always => [[$judge, qr/CPU_SECONDS = 60/, 'CPU_SECONDS = 1']],
        cheat => 'computes for 1.5 s', text => answer('time.h', "while (clock() < 3 * CLOCKS_PER_SEC / 2)\n        ;\n    return true;"), says => qr/did not end within/ },
    { wall => 'memory', without => [[$judge, qr/^    limit\(RLIMIT_AS, .*\n/m, '']], cheat => 'takes 64 GB', text => answer('sys/mman.h', <<'END') },
    return mmap(NULL, (size_t)64 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
END
    { wall => 'output', without => [[$judge, qr/^    limit\(RLIMIT_FSIZE, .*\n/m, '']], cheat => 'prints 11 MB', says => qr/printed more than 10 MB/,
        text => answer('stdio.h', "for (int i = 0; i < 11 << 10; i++)\n        printf(\"%1024s\", \"\\n\");\n    return true;") },
    { wall => 'processes', without => [[$judge, qr/^    limit\(RLIMIT_NPROC, .*\n/m, '']], bare => 1, always => most_processes(20),
        cheat => 'starts 30', text => answer('signal.h unistd.h', <<'END') },
    pid_t child[30];
    int started = 0;
    while (started < 30 && (child[started] = fork()) >= 0)
        if (child[started++] == 0)
            for (;;)
                pause();
    for (int i = 0; i < started; i++)
        kill(child[i], SIGKILL);
    return started == 30;
END
    { wall => 'open files', without => [[$judge, qr/^    limit\(RLIMIT_NOFILE, .*\n/m, '']], cheat => 'opens 300, each with room for 10 MB',
        text => answer('sys/mman.h', "int opened = 0;\n    while (opened < 300 && memfd_create(\"\", 0) >= 0)\n        opened++;\n    return opened == 300;") },
    { wall => 'no image of its memory is left when it crashes', without => [[$judge, qr/^    limit\(RLIMIT_CORE, .*\n/m, '']], cores => 1, cheat => 'allows one',
        text => answer('sys/resource.h', "struct rlimit most;\n    return getrlimit(RLIMIT_CORE, &most) == 0 && most.rlim_max > 0;") },
    { wall => 'environment', without => [[$judge, qr/environ = clean_environment\(\);/, '(void)clean_environment;']],
        cheat => 'reads a secret', text => answer('stdlib.h', 'return getenv("SECRET") != NULL;') },
    { wall => 'files that are open already', without => [[$judge, qr/^    for \(int fd = CHANNEL_FD \+ 1; .*\n.*\n/m, '']],
        cheat => 'reads one', text => answer('unistd.h', "char c;\n    for (int fd = 4; fd < 256; fd++)\n        if (pread(fd, &c, 1, 0) == 1 && c == 'o')\n            return true;\n    return false;") },
    { wall => 'what it has started is ended with it', without => [[$judge, qr/^    prctl\(PR_SET_CHILD_SUBREAPER.*\n/m, ''], [$judge, qr/^            kill\(pid, SIGKILL\);\n/m, "            ;\n"]], bare => 1, both => 1, look => 1,
        cheat => 'leaves a process behind', text => $daemon, says => qr/^wrong: .*before the judge was done[^;]*$/, then => qr/^wrong: .*; still running$/ },
    { wall => 'and all at once', without => [[$judge, qr/^        kill\(-channel\.process, SIGKILL\);\n/m, '']], bare => 1, always => most_processes(60),
        root => 'only root can be somebody who has no other processes', cheat => 'starts more of itself for 4 s', killed_after => 2, says => qr/^wrong: .*before the judge was done/,
        then => qr/^killed/, text => answer('time.h unistd.h', <<"END") },
    $here
    const pid_t first = getpid();
    const time_t begin = time(NULL);
    for (int i = 0; getpid() == first ? i < 1000 : time(NULL) < begin + 4; i++)
        fork();
    _exit(0);
END
    { wall => 'it ends with whoever judges', without => [[$judge, qr/^    prctl\(PR_SET_PDEATHSIG, SIGKILL\); \/\* with the judge.*\n/m, '']], bare => 1, both => 1, look => 1, killed_after => 0.3,
        cheat => 'waits for ever', text => $pauses, says => qr/^killed$/, then => qr/^killed; still running$/ },
    { wall => 'no terminal', without => [[$judge, qr/^    setsid\(\);/m, '    setpgid(0, 0);']], terminal => 1, cheat => 'opens that of whoever judges',
        text => answer('fcntl.h', 'return open("/dev/tty", O_RDWR) >= 0;') },
    { wall => 'names from an answer are plain text', without => [[$judge, qr/^            \*p = '\?';/m, '            ;']], cheat => 'is in a file that clears the screen',
        text => answer('', 'return true;') =~ s/^ *sum\[i\] = .*/#line 1 "a\\033[2J"\n        sum[i] = 0;/mr, says => qr/^wrong: [^\e]*$/, then => qr/^wrong: .*\e\[2J/ },
    { wall => 'what calls pass by value is looked at', without => [[$rules, qr/\$\(BY_VALUE\)\.own\.o/, '$(ANSWER).own.o']], cheat => 'reads the runner\'s stack',
        text => answer('', 'return copies(*(const word *)((char *)__builtin_frame_address(0) + 4096)).v != 0x9e3779b97f4a7c15;') =~ s/(?=static __global__)/struct word { unsigned long v; };
static word same(word w) { return w; }
static word (*volatile copies)(word) = same;
/r, says => qr/^wrong: .*belongs to none of its variables/ },
    { wall => 'what calls pass by value is counted', without => [[$rules, qr/\$\(BY_VALUE\)\.own\.o/, '$(ANSWER).own.o']], cheat => 'reads more than it should', text => solution_text($add) =~ s/(?=static __global__)/struct many { float x[31]; };
static float nothing(many m) { return m.x[30] == 1e30f ? 1 : 0; }
static float (*volatile adds)(many) = nothing;
/r =~ s/(sum\[i\] = [^;]*)/$1 + (i + 31 <= n ? adds(*(const many *)(a + i)) : 0)/r, says => qr/^refused: .*by passing or returning structs by value/ },
    { wall => 'several launches are counted', without => [[$judge, qr/count_all\(size\);/, 'count(COUNT_IT, size);']], cheat => 'does what goals ask for in its first ones alone',
        text => solution_text($add) =~ s/const int threads = 128;/static int launches; const int threads = launches++ < 2 ? 128 : 64;/r, says => qr/^over_goal: .*threads: 320/ },
    # bubblewrap
    { wall => 'bubblewrap: files', wraps => sub { s{--proc}{--ro-bind\0$copy\0$copy\0--proc} }, cheat => 'reads our solution',
        text => answer('unistd.h', "return access(\"$copy/$add->{solution}\", R_OK) == 0;") },
    { wall => 'bubblewrap: nothing can be written', wraps => sub { s{--remount-ro\0/\0}{} }, cheat => 'writes a file',
        text => answer('fcntl.h', 'return open("file", O_WRONLY | O_CREAT, 0600) >= 0;') },
    { wall => 'bubblewrap: other processes', wraps => sub { s{--unshare-all}{--unshare-net} }, cheat => 'sees one', text => answer('signal.h', "return kill($$, 0) == 0;") },
    { wall => 'bubblewrap: network', wraps => sub { s{--unshare-all}{--unshare-pid} }, network => 1, cheat => 'sees one',
        text => answer('net/if.h string.h', "struct if_nameindex *all = if_nameindex();\n    for (int i = 0; all != NULL && all[i].if_index != 0; i++)\n        if (strcmp(all[i].if_name, \"lo\") != 0)\n            return true;\n    return false;") },
    { wall => 'bubblewrap: what a compiler reads', compiler => sub { s{--remount-ro}{--ro-bind\0$copy/02_cuda_ref\0$copy/02_cuda_ref\0--remount-ro} },
        cheat => 'takes our solution into its object', says => qr{^wrong: .*solutions/add\.cu},
        text => answer('', 'return solution[0] == 47;') =~ s{(?=static __global__)}{__asm__(".section .rodata\\nsolution: .incbin \\"$copy/$add->{solution}\\"\\n.previous");\nextern "C" const char solution[];\n}r },
    { wall => 'bubblewrap: it ends with whoever judges', wraps => sub { s{--die-with-parent\0}{} }, look => 1, killed_after => 0.3,
        cheat => 'waits for ever', text => $pauses, says => qr/^killed$/, then => qr/^killed; still running$/ },
);
for my $row (grep { !defined $only || index("$_->{wall}: $_->{cheat}", $only) >= 0 } @rows) {
    my $name = "$row->{wall}: $row->{cheat}";
  SKIP: {
        skip sandbox_missing(), 2 if ($row->{wraps} || $row->{compiler}) && sandbox_missing();
        skip 'there is no network here', 2 if $row->{network} && !grep { !m{/lo$} } glob '/sys/class/net/*';
        skip $row->{root}, 2 if defined $row->{root} && $> != 0;
        skip 'memory images are not allowed here anyway', 2 if $row->{cores} && `sh -c 'ulimit -H -c'` eq "0\n";
        my $judge_it = sub { judged($row) };
        my @always = @{ $row->{always} // [] };
        my ($bare, $says) = ($row->{bare} ? 'taken away' : $Sandbox::off, $row->{says} // qr/^wrong: .*has not been written/);
        {
            local $Sandbox::off = $bare;
            like((with_edits(\@always, $judge_it))[0], $says, "with $name");
            my ($without) = $row->{wraps} ? sandbox_with('Sandbox::bubblewrap', $row->{wraps}, $judge_it)
                : $row->{compiler} ? sandbox_with('Running::compiler_sandbox', $row->{compiler}, $judge_it) : with_edits([@always, @{ $row->{without} }], $judge_it);
            like($without, $row->{then} // qr/^solved: /, "without $name");
        }
        like((with_edits($row->{without}, $judge_it))[0], $says, "without, but in bubblewrap: $name") if $row->{both} && !sandbox_missing();
    }
}

# what an answer prints reaches a terminal, too
if (!defined $only) {
    my $row = { text => answer('stdio.h', "printf(\"\\033[2J\\n\");\n    return false;") };
    like(judged($row), qr/^wrong: [^\e]*\?\[2J[^\e]*$/, 'with what is printed is plain text: clears the screen');
    no warnings 'redefine';
    local *Running::plain = sub { return $_[0] };
    like(judged($row), qr/^wrong: .*\e\[2J/, 'without what is printed is plain text: clears the screen');
}

chdir $root;
done_testing;
