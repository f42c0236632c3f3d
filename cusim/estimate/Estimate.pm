# SPDX-License-Identifier: MIT
# Estimate.pm - all that other programs ask of the estimate: the public names of Model.pm and Traced.pm, which explain them.
package Estimate;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use lib dirname(__FILE__);
use Model qw(chip chips resident launch_time launches_time elementwise %meaning);
use Traced qw(traced variants registers read_registers between whole_blocks);
our @EXPORT_OK = (@Model::EXPORT_OK, @Traced::EXPORT_OK);

1;
