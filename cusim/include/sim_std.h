/* SPDX-License-Identifier: MIT */
/* sim_std.h - cuda::std: in kernels the host's std serves, since both are one machine's code here. Of cuda/std/... */
#ifndef SIM_STD_H
#define SIM_STD_H

#include <type_traits> /* so that there is a std */

namespace cuda
{
namespace std
{
using namespace ::std;
}
} // namespace cuda

#endif
