/* SPDX-License-Identifier: MIT */
/* settings.h - the settings of the environment, CUSIM_...; settings.cpp has the table of all. */
#ifndef SIM_SETTINGS_H
#define SIM_SETTINGS_H

/* The value of a setting in the table; NULL where it is not set. */
const char *sim_setting(const char *name);

/* The same as a number from `least` to `most`, `otherwise` where it is not set; ends with sim_bad_setting(..., want)
   where it is none. */
long sim_number_setting(const char *name, long least, long most, long otherwise, const char *want);

/* One line, and exit status 2, for a value that cannot be understood. */
[[noreturn]] void sim_bad_setting(const char *name, const char *value, const char *want);

#endif
