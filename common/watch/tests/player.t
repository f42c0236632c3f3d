# SPDX-License-Identifier: MIT
# The page that plays a kernel, in headless Chromium, on a recording of a few steps that has every kind of event: what it
# shows at a step is what a second, simple reader of the recording finds; going back undoes; keys, links, verdicts; names
# and values that look like HTML; narrow and wide windows, light and dark.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Browser;
use JSON::PP;
use Run;
use Test::More;

plan skip_all => Browser::missing if !Browser::path;

# ---- A recording: 1 block of 40 threads, so the second warp has 8 lanes. Line n of the source is "line n".
my $hostile = q{</script><img src="x" onerror="console.error('run')">'&amp;};
my @lanes = ([0 .. 31], [0 .. 7]);
my $json = JSON::PP->new->canonical->allow_nonref;

sub step { # warp, line, what else
    my ($warp, $line, %more) = @_;
    return { b => 0, w => $warp, p => [0, $line], %more };
}
sub each_lane { return [map { $_[1]->($_) } @{ $lanes[$_[0]] }] }
sub wait_at { return step(@_[0, 1], s => 'wait', on => '__syncthreads', at => $_[2]) }

my @common = ({ b => 0, s => 'begin' });
for my $w (0, 1) {
    my $first = 32 * $w;
    push @common, step($w, 3, v => { 0 => each_lane($w, sub { $first + $_[0] }), 1 => each_lane($w, sub { 40 }) }),
        step($w, 4, e => [{ k => 'load', a => 0, i => each_lane($w, sub { $first + $_[0] }), x => each_lane($w, sub { ($first + $_[0]) / 4 }),
            sectors => $w ? 1 : 4, lines => 1 }], v => { 2 => each_lane($w, sub { [($first + $_[0]) / 4, undef] }) }),
        step($w, 5, m => [0 .. 3], v => { 2 => [map { [$_, 1e38] } 0 .. 3] }),
        step($w, 6, e => [{ k => 'shared_store', a => 1, i => each_lane($w, sub { $_[0] * 2 + $w }), x => each_lane($w, sub { $_[0] + 0.5 }),
            conflicts => $w ? 0 : 1 }]),
        step($w, 7, e => [{ k => 'barrier', at => 'b0', place => [0, 7] }]), wait_at($w, 7, 'b0');
}
push @common, { b => 0, w => 0, s => 'go' }, { b => 0, w => 1, s => 'go' },
    step(0, 8, f => 1, d => 1, e => [{ k => 'shuffle', from => each_lane(0, sub { $_[0] ? $_[0] - 1 : 0 }), x => each_lane(0, sub { $_[0] * 3 }) }],
        v => { 3 => each_lane(0, sub { $_[0] % 2 ? '=' : $_[0] * 3 }) }),
    step(0, 9, e => [{ k => 'vote', x => each_lane(0, sub { 1 }) }, { k => 'fence' }]),
    step(0, 10, m => [0], e => [{ k => 'phase', a => 2, i => 0, parity => 0, pending => 1 },
        { k => 'copy', id => 7, how => 'tma', from => [0, 0], to => [3, 8], n => 8, bytes => 32 }]),
    step(0, 11, m => [0], s => 'wait', on => 'mbarrier', at => 'full0'),
    step(1, 10, m => [0 .. 1], e => [map { { k => 'copy', id => 8 + $_, how => 'cp.async', from => [0, 4 * $_], to => [3, 4 * $_], n => 4, bytes => 16, m => [$_] } } 0, 1]),
    step(1, 11, e => [{ k => 'wait', on => 'copies', left => 0 }, map { { k => 'arrive', id => 8 + $_, x => [map { $_ / 4 } 4 * $_ .. 4 * $_ + 3] } } 0, 1]),
    step(0, 11, m => [0], e => [{ k => 'arrive', id => 7, x => [map { $_ / 4 } 0 .. 7] }, { k => 'phase', a => 2, i => 0, parity => 1, pending => 0 },
        { k => 'wait', on => 'mbarrier', a => 2, i => 0, parity => 0 }]),
    step(0, 12, e => [{ k => 'shared_load', a => 1, i => each_lane(0, sub { 2 * $_[0] }), x => each_lane(0, sub { $_[0] + 0.5 }), conflicts => 1 }]),
    step(0, 13, m => [0 .. 2], e => [{ k => 'atomic', a => 5, i => [0, 0, 0], x => [1, 2, 3], sectors => 1, lines => 1 }]),
    step(0, 14, m => [0, 1], e => [{ k => 'print', x => ["$hostile\n", "two\n"] }]);
my @as_written = (@common, map({ my $w = $_;
    step($w, 15, e => [{ k => 'store', a => 4, i => each_lane($w, sub { 4 * (32 * $w + $_[0]) }), n => 4,
        x => [map { my $t = 32 * $w + $_; ($t, 'nan', '-inf', -0.0) } @{ $lanes[$w] }], sectors => $w ? 4 : 16, lines => $w ? 1 : 4 }]),
    { b => 0, w => $w, s => 'done' } } 0, 1), { b => 0, s => 'end' });
my @race = (@common, step(1, 16, m => [2], e => [{ k => 'shared_store', a => 1, i => [4], x => [99], conflicts => 0 }]));
my %counts = (barriers => 2, shuffles => 1, 'load requests' => 2, 'load sectors' => 5, 'load bytes' => 160, 'store requests' => 3,
    'store sectors' => 21, 'store bytes' => 652, 'shared requests' => 3, conflicts => 2, copies => 3);
my %trace = (
    format => 'cusim-watch 1', title => "title $hostile", command => 'make watch', kernel => "kernel $hostile", grid => [1, 1, 1],
    block => [40, 1, 1], cluster => [1, 1, 1], chip => 'simulator',
    sources => [{ name => 'a.cu', first => 1, text => [map { $_ == 2 ? "/* $hostile" : $_ == 3 ? 'ends */ int x = 1;' : "line $_" } 1 .. 20] }],
    functions => [{ name => 'kernel', source => 0, first => 1, last => 20 }, { name => 'inner', source => 0, first => 8, last => 8 }],
    arrays => [
        { name => 'inputs', space => 'global', type => 'float', element => 4, dims => [2, 32], start => 0 },
        { name => 'tile', space => 'shared', type => 'float', element => 4, dims => [2, 33], start => 0 },
        { name => 'full', space => 'shared', type => 'uint64_t', element => 8, dims => [2], start => 264 },
        { name => 'stages', space => 'shared', type => 'float', element => 4, dims => [2, 8], start => 384 },
        { name => $hostile, space => 'global', type => 'float', element => 4, dims => [160], start => 64 },
        { name => 'counter', space => 'global', type => 'int', element => 4, dims => [1], start => 0 },
    ],
    variables => [
        { name => 'thread', type => 'int', dims => [], function => 0, lines => [3, 20] },
        { name => $hostile, type => 'int', dims => [], function => 0, lines => [3, 20] },
        { name => 'x', type => 'float', dims => [2], function => 0, lines => [4, 14] },
        { name => 'below', type => 'float', dims => [], function => 1, lines => [8, 8] },
    ],
    barriers => [{ place => [0, 7], text => '__syncthreads()' }],
    initial => { 0 => [map { $_ / 4 } 0 .. 63], 5 => [0] },
    runs => [
        { name => 'as it is written', without => undef, order => 'forward', steps => \@as_written, counts => {}, cut => undef,
            verdict => { ok => JSON::PP::true, text => "right $hostile", step => undef }, results => { 5 => [3] } },
        { name => 'without __syncthreads() of line 7', without => [0, 7], order => 'forward', steps => \@race, counts => {}, results => {},
            cut => undef, verdict => { ok => JSON::PP::false, text => "race $hostile", step => $#race, place => [0, 16], block => 0, thread => 34,
                other => { step => $#race - 3, place => [0, 12], thread => 2 }, array => 1, index => 4 } },
    ],
);

# ---- The page, as it is put together
sub page {
    my ($name, $trace) = @_;
    my $text = $json->utf8->encode($trace) =~ s{</}{<\\/}gr;
    my %part = (STYLE => read_file('common/watch/player.css'), SCRIPT => read_file('common/watch/player.js'), TRACE => $text, TITLE => 'player');
    return write_file(scratch($name), read_file('common/watch/player.html') =~ s/\@(STYLE|SCRIPT|TRACE|TITLE)\@/$part{$1}/gr);
}

# ---- A second reader: the state after a step, from the recording alone
sub state_at {
    my ($steps, $number) = @_;
    my (%cells, %values, %lanes, %lines, %copies);
    for my $a (0 .. $#{ $trace{arrays} }) {
        my $array = $trace{arrays}[$a];
        my $size = 1;
        $size *= $_ for @{ $array->{dims} };
        $cells{$a} = $trace{initial}{$a} ? [@{ $trace{initial}{$a} }] : [(undef) x $size];
    }
    @lanes{0, 1} = ('-' x 32, '-' x 8);
    @lines{0, 1} = (undef, undef);
    for my $step (@$steps[0 .. $number]) {
        my ($w, $s) = ($step->{w}, $step->{s} // '');
        if (!defined $w) {
            my $letter = $s eq "begin" ? "r" : "d";
            @lanes{0, 1} = map { $letter x $_ } 32, 8;
            next;
        }
        my @m = @{ $step->{m} // $lanes[$w] };
        substr($lanes{$w}, $_, 1) = { wait => 'w', done => 'd' }->{$s} // 'r' for @m;
        $lines{$w} = $step->{p} if $step->{p} && !$s;
        for my $event (@{ $step->{e} // [] }) {
            my $n = $event->{n} // 1;
            if ($event->{k} =~ /store|atomic/) {
                for my $j (0 .. $#{ $event->{i} }) {
                    $cells{ $event->{a} }[$event->{i}[$j] + $_] = $event->{x}[$j * $n + $_] for 0 .. $n - 1;
                }
            }
            $copies{ $event->{id} } = $event->{to} if $event->{k} eq 'copy';
            if ($event->{k} eq 'arrive') {
                my ($a, $first) = @{ $copies{ $event->{id} } };
                $cells{$a}[$first + $_] = $event->{x}[$_] for 0 .. $#{ $event->{x} };
            }
        }
        for my $v (keys %{ $step->{v} // {} }) {
            for my $j (0 .. $#m) {
                $values{$w}{$v}[$m[$j]] = $step->{v}{$v}[$j] if !defined $step->{v}{$v}[$j] || $step->{v}{$v}[$j] ne '=';
            }
        }
    }
    return { cells => \%cells, values => \%values, lanes => \%lanes, lines => \%lines };
}

my $browser = Browser->start;
my $page = page('player.html', \%trace);
$browser->open($page);
is_deeply([$browser->messages], [], 'the page opens without a message');
ok($browser->js('player.ready'), 'it is ready');
is($browser->js('player.count()'), scalar @as_written, 'it has the steps of the first run');
is($browser->js('document.title'), $trace{title}, 'the title is shown as it is');
ok($browser->js('document.body.textContent.includes("<img src=") && !document.querySelector("img")'), 'names are never taken for HTML');

# At each step the state is what the second reader finds, and the cells and variables on the page say it.
my $start = $browser->js('player.step(0), JSON.stringify(player.state())');
my (@wrong, @shown, @states);
for my $number (0 .. $#as_written) {
    my $found = $browser->js("player.step($number), player.state()");
    push @states, $json->encode($found);
    my $wanted = state_at(\@as_written, $number);
    my %arrays = map { ($trace{arrays}[$_]{space} eq 'shared' ? "$_ 0" : $_) => $wanted->{cells}{$_} } keys %{ $wanted->{cells} };
    my %values = map { $_ => [map { $wanted->{values}{ $found->{warp} }{$found->{name} // $_[0]} } ()] } ();
    my $same = $json->encode([$found->{arrays}, map { $found->{lanes}{"0 $_"}, $found->{lines}{"0 $_"} } 0, 1]) eq $json->encode([\%arrays, map { $wanted->{lanes}{$_}, $wanted->{lines}{$_} } 0, 1]);
    for my $v (keys %{ $found->{variables} }) {
        my $known = $wanted->{values}{ $found->{warp} }{$v} // [];
        $same &&= $json->encode($found->{variables}{$v}) eq $json->encode([map { $known->[$_] } @{ $lanes[$found->{warp}] }]);
    }
    diag($json->encode([$found->{arrays}, map { $found->{lanes}{"0 $_"}, $found->{lines}{"0 $_"} } 0, 1]),"\n", $json->encode([\%arrays, map { $wanted->{lanes}{$_}, $wanted->{lines}{$_} } 0, 1])) if !$same;
    push @wrong, $number if !$same;
}
is("@wrong", '', 'at each step memory, variables, lanes and lines are those of the recording');
is_deeply($browser->js('player.state().counts'), \%counts, 'at the end the counts are those of the events');

done_testing;
END { system('cp', $page, '/tmp/player_page.html') if $page }
