# SPDX-License-Identifier: MIT
# The Dockerfile: what it copies is all that `make setup' reads, `make setup' is what installs, and the page names the same packages. (.ci/container
# runs inside the image.)
use strict;
use warnings;
use lib 'common/base';
use JSON::PP;
use Run;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
my $dockerfile = read_file('Dockerfile');
my ($image, $bin) = (scratch('image'), scratch('bin'));
mkdir $_ for $image, $bin;

for my $copied ($dockerfile =~ /^COPY (\S+ \S+)$/mg) {
    my ($from, $to) = split ' ', $copied;
    is(system("mkdir -p \"\$(dirname '$image$to')\" && cp -r '$from' '$image$to'"), 0, "COPY $copied");
    ok(read_file('.dockerignore') =~ /^!\Q$from\E$/m, "$from is sent to the builder");
}

# a machine that has make and no more, where apt-get only says what it is asked for
symlink((grep { -x } map { "$_/$1" } split /:/, $ENV{PATH})[0], "$bin/$1") while 'sh make grep sed id env uname cat' =~ /(\S+)/g;
write_file("$bin/$_", "#!/bin/sh\necho $_ \"\$@\" >> '" . scratch('asked') . "'\n") for qw(apt-get apt-cache sudo);
chmod 0755, map { "$bin/$_" } qw(apt-get apt-cache sudo);
my ($setup) = $dockerfile =~ /make -C (\S+) setup/;
my ($status, $out, $err) = run_program({ PATH => $bin }, 'make', '-C', "$image$setup", 'setup');
is("$status$err", '0', 'make setup runs in the image, and has nothing to complain of') or diag($out);
my ($packages) = $out =~ /^installing: (.*)$/m;
like($packages, qr/\Agcc g\+\+ perl gnuplot-nox\b/, 'it installs what the course needs');
my @unnamed = grep { read_file('docs/machines.md') !~ /[` ]\Q$_\E[` ]/ } split ' ', $packages;
is("@unnamed", '', 'docs/machines.md names them all');
my ($beside) = $dockerfile =~ /apt-get install .*?--no-install-recommends (.*?) \\/;
is(join(' ', grep { my $own = $_; grep { $_ eq $own } split ' ', $packages } split ' ', $beside), '', 'and the Dockerfile names none of them again');

my $devcontainer = decode_json(read_file('.devcontainer/devcontainer.json'));
ok(-f ".devcontainer/$devcontainer->{build}{dockerfile}", 'the devcontainer is made of the same Dockerfile');
like($dockerfile, qr/useradd .*\b\Q$devcontainer->{remoteUser}\E$/m, 'and its user is that of the Dockerfile');
done_testing;
