/* SPDX-License-Identifier: MIT */
/* progress.h - how far a launch is, on a terminal. */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

void sim_show_progress(void); /* a second has passed */
void sim_hide_progress(void); /* something else is to be said */

#endif
