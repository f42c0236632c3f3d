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
        step($w, 5, m => [0 .. 3], v => { 2 => [map { [$_, (1e38, 1234567, 0.000123456, '9007199254740993')[$_]] } 0 .. 3] }),
        step($w, 6, e => [{ k => 'shared_store', a => 1, i => each_lane($w, sub { $_[0] * 2 + $w }), x => each_lane($w, sub { $_[0] + 0.5 }),
            conflicts => $w ? 0 : 1 }]),
        step($w, 7, e => [{ k => 'barrier', at => 'b0', place => [0, 7] }]), wait_at($w, 7, 'b0');
}
push @common, { b => 0, w => 0, s => 'go' }, { b => 0, w => 1, s => 'go' },
    step(0, 8, f => 1, d => 1, e => [{ k => 'shuffle', from => each_lane(0, sub { $_[0] ? $_[0] - 1 : 0 }), x => each_lane(0, sub { $_[0] * 3 }) }],
        v => { 3 => each_lane(0, sub { $_[0] % 2 ? '=' : $_[0] * 3 }) }),
    step(0, 9, e => [{ k => 'vote', x => each_lane(0, sub { 1 }) }, { k => 'fence' }]),
    step(0, 10, m => [0], e => [{ k => 'phase', a => 2, i => 0, phase => 0, parity => 0, pending => 1 },
        { k => 'copy', id => 7, how => 'tma', from => [0, 0], to => [3, 8], n => 8, bytes => 32, sectors => 1 }]),
    step(0, 11, m => [0], s => 'wait', on => 'mbarrier', at => 'full0'),
    step(1, 10, m => [0 .. 1], e => [map { { k => 'copy', id => 8 + $_, how => 'cp.async', from => [0, 4 * $_], to => [3, 4 * $_], n => 4, bytes => 16, m => [$_], $_ ? () : (sectors => 1) } } 0, 1]),
    step(1, 11, e => [{ k => 'wait', on => 'copies', left => 0 }, map { { k => 'arrive', id => 8 + $_, x => [map { $_ / 4 } 4 * $_ .. 4 * $_ + 3] } } 0, 1]),
    step(0, 11, m => [0], e => [{ k => 'arrive', id => 7, x => [map { $_ / 4 } 0 .. 7] }, { k => 'phase', a => 2, i => 0, phase => 1, parity => 1, pending => 1 },
        { k => 'wait', on => 'mbarrier', a => 2, i => 0, parity => 0 }]),
    step(0, 12, e => [{ k => 'shared_load', a => 1, i => each_lane(0, sub { 2 * $_[0] }), x => each_lane(0, sub { $_[0] + 0.5 }), conflicts => 1 }]),
    step(0, 13, m => [0 .. 2], e => [{ k => 'atomic', a => 5, i => [0, 0, 0], x => [1, 2, 3], sectors => 1, lines => 1 }]),
    step(0, 14, m => [0, 1], e => [{ k => 'print', x => ["$hostile\n", "two\n"] }]);
my @as_written = (@common, map({ my $w = $_;
    step($w, 15, e => [{ k => 'store', a => 4, i => each_lane($w, sub { 4 * (32 * $w + $_[0]) }), n => 4,
        x => [map { my $t = 32 * $w + $_; ($t, 'nan', '-inf', 'inf') } @{ $lanes[$w] }], sectors => $w ? 4 : 16, lines => $w ? 1 : 4 }]),
    { b => 0, w => $w, s => 'done' } } 0, 1), { b => 0, s => 'end' });
my @race = (@common, step(1, 16, m => [2], e => [{ k => 'shared_store', a => 1, i => [4], x => [99], conflicts => 0 }]));
my %counts = (barriers => 1, shuffles => 1, 'load requests' => 4, 'load sectors' => 7, 'bytes wanted' => 224, 'store requests' => 3,
    'store sectors' => 21, 'bytes stored' => 652, 'shared requests' => 3, conflicts => 2, copies => 3);
my %trace = (
    format => 'cusim-watch 1', title => "title $hostile", command => 'make watch', kernel => "kernel $hostile", grid => [1, 1, 1],
    block => [40, 1, 1], cluster => [1, 1, 1], chip => 'simulator',
    sources => [{ name => 'a.cu', first => 1, text => [map { $_ == 2 ? "/* $hostile" : $_ == 3 ? 'ends */ int x = 1;' : $_ == 9 ? 'if (x)' : "line $_" } 1 .. 20] }],
    functions => [{ name => 'kernel', source => 0, first => 1, last => 20 }, { name => 'inner', source => 0, first => 8, last => 8 }],
    arrays => [
        { name => 'inputs', space => 'global', type => 'float', element => 4, dims => [2, 32], start => 0 },
        { name => 'tile', space => 'shared', type => 'float', element => 4, dims => [2, 33], start => 0 },
        { name => 'full', space => 'shared', type => 'uint64_t', element => 8, dims => [2], start => 264 },
        { name => 'stages', space => 'shared', type => 'float', element => 4, dims => [2, 8], start => 384 },
        { name => $hostile, space => 'global', type => 'float', element => 4, dims => [160], start => 64 },
        { name => 'counter', space => 'global', type => 'int', element => 4, dims => [1, 1], start => 0, fields => [['count', 0, 1]] },
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
        { name => 'wrong', without => undef, order => 'reverse', steps => \@as_written, counts => {}, results => {}, cut => 'it ends here',
            verdict => { ok => JSON::PP::false, text => 'A result is wrong.', step => undef, array => 5, index => 0 } },
        { name => 'reads what is new', without => undef, order => 'forward', steps => [@common[0 .. 22]], counts => {}, results => {}, cut => undef,
            verdict => { ok => JSON::PP::false, text => 'race: reads tile, which thread 2 has written', step => 22, place => [0, 12], block => 0, thread => 2,
                other => { step => 4, place => [0, 6], thread => 2 }, array => 1, index => 4 } },
    ],
);

# ---- The page, as it is put together
sub page {
    my ($name, $trace) = @_;
    my $text = $json->utf8->encode($trace) =~ s{</}{<\\/}gr;
    my %part = (STYLE => read_file('cusim/player/player.css'), SCRIPT => read_file('cusim/player/player.js'), TRACE => $text, TITLE => 'player');
    return write_file(scratch($name), read_file('cusim/player/player.html') =~ s/\@(STYLE|SCRIPT|TRACE|TITLE)\@/$part{$1}/gr);
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
        $lines{$w} = $step->{p} if $step->{p};
        for my $event (@{ $step->{e} // [] }) {
            my $n = $event->{n} // 1;
            if ($event->{k} =~ /store|atomic/) {
                for my $j (0 .. $#{ $event->{i} }) {
                    $cells{ $event->{a} }[$event->{i}[$j] + $_] = $event->{x}[$j * $n + $_] for 0 .. $n - 1;
                }
            }
            $copies{ $event->{id} } = [@{ $event->{to} }, $event->{n}] if $event->{k} eq 'copy';
            if ($event->{k} eq 'arrive') {
                my ($a, $first) = @{ delete $copies{ $event->{id} } };
                $cells{$a}[$first + $_] = $event->{x}[$_] for 0 .. $#{ $event->{x} };
            }
        }
        for my $v (keys %{ $step->{v} // {} }) {
            for my $j (0 .. $#m) {
                $values{$w}{$v}[$m[$j]] = $step->{v}{$v}[$j] if !defined $step->{v}{$v}[$j] || $step->{v}{$v}[$j] ne '=';
            }
        }
    }
    my %coming;
    for my $to (values %copies) {
        $coming{ $to->[0] }{ $to->[1] + $_ } = 1 for 0 .. $to->[2] - 1;
    }
    return { coming => \%coming, cells => \%cells, values => \%values, lanes => \%lanes, lines => \%lines };
}

my $browser = Browser->start;
my $page = page('player.html', \%trace);
$browser->open($page);
is_deeply([$browser->messages], [], 'the page opens without a message');
ok($browser->js('player.ready'), 'it is ready');
is($browser->js('player.count()'), scalar @as_written, 'it has the steps of the first run');
is($browser->js('document.title'), $trace{title}, 'the title is shown as it is');
ok($browser->js('document.body.textContent.includes("<img src=") && !document.querySelector("img")'), 'names are never taken for HTML');

# At each step memory, variables, lanes and lines are those of the second reader, and the page shows them.
my $look = <<'END';
(number => {
    player.step(number);
    const shown = {}, sentence = document.getElementById('sentence').textContent;
    for (const text of document.querySelectorAll('#variables text, #shared text, #global text'))
        if (text.item.mark)
            shown[text.item.mark] = text.textContent;
    const lit = document.querySelector('#code [aria-current] .number');
    const chips = [...document.querySelectorAll('#code .chip.here')].map(chip => chip.textContent + chip.closest('.number').lastChild.data);
    return { state: player.state(), shown, sentence, lit: lit ? lit.lastChild.data : null, chips: chips.sort().join(' ') };
})
END
my %texts = (nan => 'NaN', inf => "\x{221e}", -inf => "\x{2212}\x{221e}", 1e38 => '1e38', '9007199254740993' => "0x2000\x{2026}");
sub unlike_value { # whether a text shows another value; a narrow cell has only 2 digits
    my ($text, $value) = @_;
    my $wanted = defined $value ? $texts{$value} // $value : "\x{b7}";
    return $text ne $wanted && !($text =~ /^[-\d.e]+\z/ && $wanted =~ /^[-\d.e]+\z/ && abs($text - $wanted) <= 0.05 * abs $wanted);
}
sub differences { # between the page and the second reader, in words
    my ($steps, $number, $page) = @_;
    my ($state, $wanted, @found) = ($page->{state}, state_at($steps, $number));
    my ($w, $shown) = ($state->{warp}, $page->{shown});
    for my $a (keys %{ $wanted->{cells} }) {
        my $cells = $state->{arrays}{ $trace{arrays}[$a]{space} eq 'shared' ? "$a 0" : $a };
        push @found, "cells of array $a" if $json->encode($cells) ne $json->encode($wanted->{cells}{$a});
        my $coming = $wanted->{coming}{$a} // {};
        push @found, map { "cell $a $_: $shown->{\"$a $_\"}" } grep {
            defined $shown->{"$a $_"} && ($coming->{$_} ? $shown->{"$a $_"} ne "\x{2026}" : unlike_value($shown->{"$a $_"}, $wanted->{cells}{$a}[$_])) } 0 .. $#$cells;
    }
    for my $v (keys %{ $state->{variables} }) {
        my @values = map { $wanted->{values}{$w}{$v}[$_] } @{ $lanes[$w] };
        push @found, "variable $v" if $json->encode($state->{variables}{$v}) ne $json->encode(\@values);
        my @parts = @{ $trace{variables}[$v]{dims} } ? map({ ".$_" } 0 .. $trace{variables}[$v]{dims}[0] - 1) : '';
        for my $part (@parts) {
            push @found, map { "variable $v$part of lane $_" } grep {
                my $value = $part ne '' && defined $values[$_] ? $values[$_][substr $part, 1] : $values[$_];
                my $text = $shown->{"v$v$part $_"};
                defined $text && unlike_value($text, $value);
            } 0 .. $#values;
        }
    }
    push @found, map { "lanes of warp $_" } grep { $state->{lanes}{"0 $_"} ne $wanted->{lanes}{$_} } 0, 1;
    push @found, map { "line of warp $_" } grep { $json->encode($state->{lines}{"0 $_"}) ne $json->encode($wanted->{lines}{$_}) } 0, 1;
    push @found, 'the lit line' if $steps->[$number]{p} && $steps->[$number]{p}[1] ne $page->{lit};
    my @chips = map { defined $wanted->{lines}{$_} && $wanted->{lanes}{$_} =~ /[rw]/ ? "w$_" . $wanted->{lines}{$_}[1] : () } 0, 1;
    push @found, "marks $page->{chips}" if join(' ', @chips) ne $page->{chips};
    return map { "step $number: $_" } @found;
}
my $seen = $browser->js("window.seen = [...Array(player.count()).keys()].map($look)");
is_deeply([map { differences(\@as_written, $_, $seen->[$_]) } 0 .. $#as_written], [],
    'at each step cells, variables, lanes and lines are those of the recording');
is_deeply($seen->[-1]{state}{counts}, \%counts, 'at the end the counts are those of the events');
is_deeply($seen->[-1]{state}{arrays}{5}, $trace{runs}[0]{results}{5}, 'and the results those of the run');
sub unlike_before { return $browser->js("$_[0].filter(number => JSON.stringify($look(number)) !== JSON.stringify(seen[number])).join()") }
is(unlike_before('[...seen.keys()].reverse()'), '', 'stepping back shows the same at each step');
is(unlike_before('[20, 3, 29, 0, 13]'), '', 'and so does jumping');

# A sentence for each kind of event
my @sentences = map { $_->{sentence} } @$seen;
my %says = (
    0 => qr/^Block 0: begins, with 40 threads in 2 warps/,
    1 => qr/^Warp 0, line 3: all 32 lanes set thread to 0 in lane 0, 1 in lane 1 \x{2026} 31 in lane 31 and .* to 40\./,
    2 => qr/load inputs\[0\]\[0\] to inputs\[0\]\[31\] in global memory\. One request, 4 sectors: 128 bytes move for 128 that are wanted/,
    3 => qr/lanes 0 to 3 set x\[0\] to .*1\.235e6 in lane 1.*Lanes 4 to 31 are not active here/,
    4 => qr/write every 2nd element from tile\[0\]\[0\] to tile\[1\]\[29\] in shared memory\. Bank conflicts: .* takes 2 turns instead of 1/,
    5 => qr/come to __syncthreads\(\)/,
    6 => qr/wait for __syncthreads\(\): 32 of the block's 40 threads have come, 8 have not/,
    13 => qr/all have come to __syncthreads\(\) in line 7, so all 32 lanes go on/,
    15 => qr/lanes 1 to 31 get the value of the lane 1 before them, .*: lane 31 gets 93 from lane 30\. Lane 0 keeps its own/,
    16 => qr/vote, and each learns the result: 1 in all 32 lanes\. .* pass a fence.*Lane 0 goes on to line 10, lanes 1 to 31 do not/,
    17 => qr/The mbarrier full\[0\] begins with parity 0, .*lane 0 starts a copy \(tma\) of inputs\[0\]\[0\] to inputs\[0\]\[7\] to stages\[1\]\[0\] to stages\[1\]\[7\]\. The threads do not wait for these 32 bytes\./i,
    18 => qr/lane 0 waits for an mbarrier/,
    19 => qr/2 copies \(cp\.async\) start, .*The threads do not wait for these 32 bytes, so that 64 are on their way\./,
    20 => qr/wait until all copies that they have started have arrived\. 2 copies arrive: stages\[0\]\[0\] to stages\[0\]\[7\]/,
    21 => qr/A copy arrives: stages\[1\]\[0\] .*\. With that the phase of the mbarrier full\[0\] is over: its parity is now 1\. .*until full\[0\] has left the phase of parity 0/,
    22 => qr/read every 2nd element .* warp 0 wrote them in line 6/,
    23 => qr/change, one after the other, counter\[0\]\.count, all the same one/,
    24 => qr/lanes 0 and 1 print: \Q$hostile\E/,
    25 => qr/One request, 16 sectors: 512 bytes move for 512 that are written/,
    26 => qr/all 32 lanes have reached the end/,
    29 => qr/has ended/,
);
like($sentences[$_], $says{$_}, "the sentence of step $_") for sort { $a <=> $b } keys %says;

# Keys
sub pressed { $browser->press($_) for @_; return $browser->js('player.at()') }
$browser->js('player.step(0)');
is(pressed('ArrowRight', 'ArrowRight', 'ArrowLeft'), 1, 'arrows step');
is(pressed('n'), 2, 'n goes to the next line of the warp');
is(pressed('b'), 5, 'b to the next barrier');
is(pressed('r'), 8, 'r to the next request');
is(pressed('R'), 4, 'R to the one before');
is(pressed('End'), $#as_written, 'the last step');
is(pressed('Home'), 0, 'the first');
$browser->js(q{for (const rect of document.querySelectorAll('#shared rect')) if (rect.item.mark === undefined && rect.item.cell?.array === 3 && rect.item.cell.index === 9) {
    rect.dispatchEvent(new MouseEvent('click', { bubbles: true })); break }});
is(pressed('c'), 21, 'c to the next write of the cell that was clicked, by a copy too');
like($browser->js('document.getElementById("detail").textContent'), qr/^stages\[1\]\[1\]: 0\.25, brought in step 21 by a copy of thread 0 in line 10 \(step 17\)/, 'what is known of it is said');
is(pressed('C'), 21, 'and stays where there is none');
pressed('w');
is($browser->js('player.state().warp'), 1, 'w shows another warp');
is($browser->js('player.step(2), player.state().warp'), 1, 'and keeps it');
pressed('f');
is($browser->js('player.state().warp'), 0, 'f shows the one that runs');
# It begins with a step in two seconds. What must come before its end, a second or two later when it is quick, is asked of the page at once: between
# two questions a busy machine may take longer.
pressed('Home', '-', '-', ' ');
my $played = $browser->js(q{new Promise(done => {
    const press = key => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const look = () => {
        if (player.at() <= 2)
            return setTimeout(look, 10);
        press(' ');
        const stopped = player.at();
        setTimeout(() => done([stopped, player.at() - stopped]), 80);
    };
    [...'++++++'].forEach(press);
    look();
})});
cmp_ok($played->[0], '>', 2, 'Space plays');
is($played->[1], 0, 'and pauses');
pressed('?');
is($browser->js('document.activeElement.id + document.getElementById("keys").hidden'), 'keysfalse', '? shows the keys');
pressed('Escape');
is($browser->js('document.getElementById("keys").hidden'), JSON::PP::true, 'Escape hides them');
is($browser->js(q{[...document.querySelectorAll('button, select, input')].filter(one => !one.ariaLabel && !(one.tagName === 'BUTTON' ? one.textContent : one.labels.length)).length}), 0,
    'every control has a name');
$browser->js('document.getElementById("shared").focus()');
$browser->command('Input.dispatchKeyEvent', { type => 'keyDown', key => 'ArrowRight', modifiers => 8 }) for 1 .. 3;
like($browser->js('document.getElementById("detail").textContent'), qr/^tile\[0\]\[2\]/, 'Shift and arrows walk over cells');
is($browser->js('document.querySelector("#shared-panel .fold").click(), document.getElementById("shared").offsetHeight'), 0, 'a picture can be folded');
pressed('4', '2');
is($browser->js('player.state().run'), 1, 'digits choose the run');

# A run that goes wrong
is(pressed('v'), $#race, 'v goes to where it goes wrong');
like($browser->js('document.getElementById("verdict").textContent'),
    qr/race \Q$hostile\E.*thread 2 \(warp 0, lane 2\) reads tile\[0\]\[4\] in line 12.*thread 34 \(warp 1, lane 2\) writes tile\[0\]\[4\] in line 16.*Here thread 34 writes only after thread 2 has read; if it comes first, thread 2 reads the new value/s,
    'the sentence, and both threads');
is($browser->js('[...document.querySelectorAll("#code .bad .number")].map(one => one.lastChild.data).join()'), '12,16', 'both lines are marked');
is($browser->js('document.querySelector("#code .left-out .number").lastChild.data'), 7, 'and the barrier that is left out');
is($browser->js('document.querySelectorAll("#shared rect.wrong").length'), 1, 'the cell is');
is($browser->js('document.querySelectorAll("#threads rect.wrong").length'), 2, 'both threads are');
is($browser->js('document.querySelector("#shared-panel .fold").click(), document.getElementById("shared").offsetHeight > 0'), JSON::PP::true, 'and unfolded');
is($browser->js('document.querySelector("#verdict button").click(), player.at()'), $#race - 3, 'a button goes to the first of the two');

$browser->js('player.run(2)');
like($browser->js('document.getElementById("verdict").textContent'), qr/^A result is wrong\.To the last write of counter\[0\]\.count: step 23, line 13/, 'a wrong result is told at once');
is($browser->js('document.querySelector("#verdict button").click(), player.at()'), 23, 'and leads to where it was written');
like($browser->js('document.getElementById("detail").textContent'), qr/^counter\[0\]\.count: 3, written by thread 2 in line 13/, 'with the cell marked');
is($browser->js('player.step(29), document.getElementById("verdict").lastChild.textContent'), 'it ends here', 'a recording that ends early says so');

$browser->js('player.run(3), player.step(22)');
like($browser->js('document.getElementById("verdict").textContent'), qr/if thread 2 comes first, tile\[0\]\[4\] is 2\.5if thread 2 comes first, tile\[0\]\[4\] is unwritten/,
    'both values that a read might get stand side by side');

# Links
sub go { # to another place of the page
    $browser->js("new Promise(done => { addEventListener('hashchange', () => setTimeout(done), { once: true }); history.replaceState(null, '', '#'); location.hash = '$_[0]' })");
}
go("run=1&step=4&block=0&warp=1&lane=3");
is($browser->js('const s = player.state(); [s.run, s.step, s.warp, document.querySelectorAll("#variables rect.chosen").length].join()'), '1,4,1,2', 'a link names run, step, warp and lane');
$browser->js('new Promise(done => { player.step(7); setTimeout(done, 300) })');
is($browser->js('location.hash'), '#run=1&step=7&block=0&warp=1&lane=3', 'the address keeps up');
go('run=9&step=-1&warp=x');
is($browser->js('player.at() + " " + player.state().run'), '0 0', 'one that names nothing begins at the start');

# Windows
for my $dark (0, 1) {
    for my $width (360, 1000, 1920) {
        $browser->look(width => $width, height => 800, dark => $dark);
        go('step=' . (10 + $dark));
        is($browser->js(q{(() => {
            const covered = new Set();
            for (let y = 0; y < document.body.scrollHeight; y += 10) {
                scrollTo(0, y);
                for (const one of document.querySelectorAll('#controls button, #sentence, #line')) {
                    const { left, right, top, bottom } = one.getBoundingClientRect(), hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
                    if (hit && !hit.closest('#now, #detail'))
                        covered.add(one.id);
                }
            }
            scrollTo(0, 0);
            return [...covered].join();
        })()}), '', "the bar covers what is scrolled under it at $width") if !$dark;
        ok($browser->js('document.documentElement.scrollWidth <= innerWidth'), "nothing sticks out at $width" . ($dark ? ', dark' : ''));
        my $contrast = $browser->js(q{(() => {
            const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
            const of = (one, name) => light(getComputedStyle(one)[name].match(/[\d.]+/g).map(Number));
            const paper = of(document.body, 'backgroundColor'), ink = of(document.getElementById('sentence'), 'color');
            return (Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05);
        })()});
        cmp_ok($contrast, '>', 7, 'and can be read') if $width == 360;
    }
}

# Fragments: each element is what its place in the matrix is, by the arrangement that common/cuda/mma_sync.h and ldmatrix.h have
sub fragments {
    my ($of, $elements) = @_;
    my @x = each_lane(0, sub { [$elements->(int($_[0] / 4), $_[0] % 4)] });
    my @steps = ({ b => 0, s => 'begin' }, step(0, 3, e => [{ k => 'shuffle', from => each_lane(0, sub { 0 }), x => each_lane(0, sub { 0 }) },
        { k => 'fragments', of => $of, x => [map { @$_ } @{ $x[0] }] }]));
    $browser->open(page("$of.html", { %trace, runs => [{ %{ $trace{runs}[0] }, steps => \@steps }] }) . '#step=1&lane=9');
    my $drawn = $browser->js(q{(() => {
        const titles = [...document.querySelectorAll('#fragments rect')].map(box => box.item.title.match(/^(.*)\[(\d+)\]\[(\d+)\] = (\d+), held by lane (\d+)/));
        const first = {a: 0, b: 2000, c: 4000, 'matrix 0': 0, 'matrix 1': 1000, 'matrix 2': 2000, 'matrix 3': 3000};
        const right = titles.filter(([, name, row, column, value]) => Number(value) === first[name] + 100 * row + Number(column));
        return [titles.length, right.length, titles.filter(one => one[5] === '9').length, document.querySelectorAll('#fragments .changed').length].join();
    })()});
    my $all = 32 * @{ $x[0][0] };
    is($drawn, join(',', $all, $all, ($all / 32) x 2), "$of: each element is drawn at its place, those of the chosen lane lit");
    unlike($browser->js('document.getElementById("sentence").textContent'), qr/shuffle|get the value/, '... and the shuffles that stand for it are not told');
}
my $of_c = sub { my ($l, $j) = @_; map { 4000 + 100 * ($l + 8 * int($_ / 2)) + 2 * $j + $_ % 2 } 0 .. 3 };
for my $type (qw(bf16 fp16)) {
    fragments("mma_$type", sub {
        my ($l, $j) = @_;
        return (map { my $i = $_; map { 100 * ($l + 8 * ($i % 2)) + 2 * $j + 8 * int($i / 2) + $_ } 0, 1 } 0 .. 3),
            (map { my $i = $_; map { 2000 + 100 * (2 * $j + 8 * $i + $_) + $l } 0, 1 } 0, 1), $of_c->($l, $j);
    });
}
fragments('mma_tf32', sub {
    my ($l, $j) = @_;
    return (map { 100 * ($l + 8 * ($_ % 2)) + $j + 4 * int($_ / 2) } 0 .. 3), (map { 2000 + 100 * ($j + 4 * $_) + $l } 0, 1), $of_c->($l, $j);
});
fragments('ldmatrix4', sub { my ($l, $j) = @_; map { my $i = $_; map { 1000 * $i + 100 * $l + 2 * $j + $_ } 0, 1 } 0 .. 3 });
fragments($_, sub { my ($l, $j) = @_; map { my $i = $_; map { 1000 * $i + 100 * (2 * $j + $_) + $l } 0, 1 } 0 .. 3 }) for 'ldmatrix4_transposed', 'stmatrix4_transposed';

# A still
my $out = scratch('still.svg');
my ($status, undef, $err) = run_program($^X, 'common/pages/still.pl', $page, 'run=1&step=24', $out, 'sentence', 'shared');
is("$status$err", '0', 'still.pl makes a picture');
$browser->open($out);
is($browser->js('[document.documentElement.tagName, document.querySelectorAll("parsererror").length].join()'), 'svg,0', 'which is an SVG');
like($browser->js('document.querySelector("title").textContent'), qr/^Warp 0, line 14: .*\Q$hostile\E/, 'of that step, names as they are');
like(read_file($out), qr/prefers-color-scheme: dark.*>16\.5</s, 'in light and dark');
run_program($^X, 'common/pages/still.pl', $page, 'run=1&step=24', $out, 'variables');
like(read_file($out), qr/>thread<.*>x\[0\]</s, 'all variables');
run_program($^X, 'common/pages/still.pl', $page, 'run=1&step=24', $out, 'variables=x');
ok(read_file($out) =~ />x\[0\]</ && read_file($out) !~ />thread</, 'or those that are named');
refuses('a step that is not there', qr/has no step 99: its last one is 29/, $^X, 'common/pages/still.pl', $page, 99, $out);
refuses('an unknown panel', qr/^usage: .*threads/, $^X, 'common/pages/still.pl', $page, 1, $out, 'threads,');

undef $browser;
done_testing;
