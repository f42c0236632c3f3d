# SPDX-License-Identifier: MIT
# HandIn.pm - what may be in a hand-in.
package HandIn;
use strict;
use warnings;

# What is wrong with a hand-in's text, before it is compiled, or with its object: undef where nothing is, or the report.
sub refused_text { my ($exercise, $text, $shown) = @_; return undef }
sub refused_object { my ($exercise, $object, $text, $shown) = @_; return undef }

1;
