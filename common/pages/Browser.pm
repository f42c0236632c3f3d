# SPDX-License-Identifier: MIT
# Browser.pm - a headless Chromium for tests of pages, and for printing them. It is asked through a pipe, in
# the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/).
#
#   my $browser = Browser->start;                        it ends with $browser
#   $browser->look(dark => 1, width => 400, height => 800, calm => 1);   what is not named is light, 1200 x 800, moving
#   $browser->open('build/site/index.html#start');       a file (or a URL); it returns once the page is loaded
#   $browser->js('document.title');                      the value of an expression or its promise, as JSON::PP has it
#   $browser->press('ArrowRight');                       a key, by the name that the page sees in event.key
#   $browser->messages                                   since open: errors and warnings, and what was asked of a server
#   $browser->command('Input.dispatchMouseEvent', {...}) anything else
#
# Each dies with a sentence when it fails. Browser::path says where Chromium is, or undef. Tests are skipped by
#
#   plan skip_all => Browser::missing if !Browser::path;  (on CI, where it must be there, missing dies instead)
package Browser;
use strict;
use warnings;
use File::Path 'remove_tree';
use File::Spec;
use File::Temp 'tempdir';
use IPC::Open2;
use JSON::PP;

# So many silent seconds, and it counts as stuck: far more than its longest work, printing the book, takes on a busy machine
use constant PATIENCE => 600;

sub path {
    for my $name (grep { defined } $ENV{CHROMIUM}, qw(chromium chromium-browser google-chrome)) {
        my ($found) = grep { -x && !-d } $name =~ m{/} ? $name : map { "$_/$name" } File::Spec->path;
        return $found if defined $found;
    }
    return undef;
}

sub missing {
    my $sentence = 'Chromium is not here, which loads the pages: install chromium (make setup SITE=1 does so)';
    die "$sentence\n" if $ENV{CI};
    return $sentence;
}

sub start {
    my ($class) = @_;
    my $path = path() // die "Chromium is not here: install chromium, or name it: CHROMIUM=/path/of/chromium\n";
    my $self = bless { next => 1, folder => tempdir(CLEANUP => 1), heard => '', messages => [] }, $class;
    # It reads from its descriptor 3, writes to 4, and finds no server. The sandbox, which not every container has room
    # for, is against strangers' pages.
    my @options = (qw(--headless --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage
        --no-first-run --hide-scrollbars --disable-background-networking --disable-component-update),
        '--force-color-profile=srgb', '--host-resolver-rules=MAP * ~NOTFOUND',
        "--user-data-dir=$self->{folder}/profile");
    local $SIG{PIPE} = 'IGNORE';
    my @redirected = ('/bin/sh', '-c', 'log=$1; shift; exec "$@" 3<&0 4>&1 < /dev/null > /dev/null 2> "$log"', 'sh');
    $self->{pid} = open2(@$self{qw(from to)}, @redirected, "$self->{folder}/log", $path, @options, 'about:blank');
    my $target = $self->command('Target.createTarget', { url => 'about:blank' })->{targetId};
    my $attached = $self->command('Target.attachToTarget', { targetId => $target, flatten => \1 });
    $self->{session} = $attached->{sessionId};
    $self->command("$_.enable") for qw(Page Runtime Log Network);
    $self->look;
    return $self;
}

sub look {
    my ($self, %how) = @_;
    my %size = (width => 0 + ($how{width} // 1200), height => 0 + ($how{height} // 800));
    $self->command('Emulation.setDeviceMetricsOverride', { %size, deviceScaleFactor => 1, mobile => \0 });
    $self->command('Emulation.setEmulatedMedia', { features => [
        { name => 'prefers-color-scheme', value => $how{dark} ? 'dark' : 'light' },
        { name => 'prefers-reduced-motion', value => $how{calm} ? 'reduce' : 'no-preference' } ] });
}

sub open {
    my ($self, $page) = @_;
    if ($page !~ /^(?:file|https?|about|data):/) {
        my ($file, $anchor) = $page =~ /^([^#]*)(#.*)?$/s;
        -f $file or die "there is no page $file\n";
        $page = File::Spec->rel2abs($file) =~ s{([^\w./~-])}{sprintf '%%%02X', ord $1}ger;
        $page = "file://$page" . ($anchor // '');
    }
    @{$self}{qw(messages loaded)} = ([], 0);
    my $answer = $self->command('Page.navigate', { url => $page });
    die "$page: $answer->{errorText}\n" if $answer->{errorText};
    $self->hear until $self->{loaded} || !$answer->{loaderId}; # to another place of the same page: nothing is loaded
}

sub js {
    my ($self, $expression) = @_;
    my %wanted = (awaitPromise => \1, returnByValue => \1);
    my $answer = $self->command('Runtime.evaluate', { expression => $expression, %wanted });
    die "$expression: ", wrong($answer->{exceptionDetails}), "\n" if $answer->{exceptionDetails};
    return $answer->{result}{value};
}

sub press {
    my ($self, $key) = @_;
    my %text = (Enter => "\r", length $key == 1 ? ($key => $key) : ());
    my %code = (Enter => 13, Tab => 9, Escape => 27, ' ' => 32, PageUp => 33, PageDown => 34, End => 35, Home => 36,
        ArrowLeft => 37, ArrowUp => 38, ArrowRight => 39, ArrowDown => 40);
    my %event = (key => $key, windowsVirtualKeyCode => $code{$key} // ($key =~ /^\w\z/ ? ord uc $key : 0),
        defined $text{$key} ? (text => $text{$key}) : ());
    $self->command('Input.dispatchKeyEvent', { type => $_, %event }) for qw(keyDown keyUp);
}

sub messages { return @{ $_[0]{messages} } }

# One command, by its name in the protocol. Returns its result.
sub command {
    my ($self, $method, $parameters) = @_;
    my $id = $self->{next}++;
    my %message = (id => $id, method => $method, params => $parameters // {},
        $self->{session} ? (sessionId => $self->{session}) : ());
    my $bytes = encode_json(\%message) . "\0";
    local $SIG{PIPE} = 'IGNORE';
    while (length $bytes) {
        my $written = syswrite($self->{to}, $bytes) // $self->ended;
        substr($bytes, 0, $written) = '';
    }
    $self->hear until $self->{answers}{$id};
    my $answer = delete $self->{answers}{$id};
    die "$method: $answer->{error}{message}\n" if $answer->{error};
    return $answer->{result};
}

# Waits for the next message and keeps what it says.
sub hear {
    my ($self) = @_;
    my $end;
    while (($end = index $self->{heard}, "\0") < 0) {
        vec(my $handles = '', fileno $self->{from}, 1) = 1;
        select($handles, undef, undef, PATIENCE)
            or die 'Chromium says nothing for ' . PATIENCE . " seconds\n";
        sysread($self->{from}, $self->{heard}, 1 << 20, length $self->{heard}) or $self->ended;
    }
    my $message = decode_json(substr($self->{heard}, 0, $end + 1, '') =~ tr/\0//dr);
    my ($event, $what) = ($message->{method} // '', $message->{params});
    $self->{answers}{ $message->{id} } = $message if $message->{id};
    $self->{loaded} = 1 if $event eq 'Page.loadEventFired';
    push @{ $self->{messages} },
        $event eq 'Runtime.exceptionThrown' ? wrong($what->{exceptionDetails})
        : $event eq 'Runtime.consoleAPICalled' && $what->{type} =~ /^(?:error|warning|assert)$/
            ? join(' ', map { $_->{value} // $_->{description} // '' } @{ $what->{args} })
        : $event eq 'Log.entryAdded' && $what->{entry}{level} =~ /^(?:error|warning)$/
            ? "$what->{entry}{text} " . ($what->{entry}{url} // '')
        : $event eq 'Network.requestWillBeSent' && $what->{request}{url} =~ /^(?:https?|wss?):/
            ? "asks a server: $what->{request}{url}"
        : ();
}

sub wrong { return ($_[0]{exception}{description} // $_[0]{text}) =~ s/\n.*//sr }

sub ended {
    my ($self) = @_;
    CORE::open my $log, '<', "$self->{folder}/log";
    my @said = grep { /\S/ } <$log>;
    die 'Chromium has ended', @said ? ": $said[-1]" : "\n";
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $@);
    close $self->{to};
    close $self->{from};
    waitpid $self->{pid}, 0 if $self->{pid} && kill 'TERM', $self->{pid};
    for (1 .. 40) { # its helpers, which end a little later, may still write
        remove_tree($self->{folder}, { error => \my $left });
        last if !-e $self->{folder};
        select undef, undef, undef, 0.05;
    }
}

1;
