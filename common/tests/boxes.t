# SPDX-License-Identifier: MIT
# Boxes of arrays, by tensor maps and the TMA: on a GPU of sm_90 and on the simulator; see programs/boxes.cu.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_boxes') or die "tests_boxes: $!";
