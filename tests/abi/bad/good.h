/* The plain C plugin with its two entry points renamed: a bad plugin copies its tables and breaks
 * one thing. `api`, `device_api`, `memory_api`, `stream_api` and `kernel_api` are the good tables.
 */
#ifndef HALMARK_TESTS_GOOD_H
#define HALMARK_TESTS_GOOD_H

#include <halmark_plugin.h>

uint32_t good_abi_version(void);
const hm_plugin_api* good_plugin_entry(void);
#define hm_abi_version good_abi_version
#define hm_plugin_entry good_plugin_entry
#include "../c_plugin.c"
#undef hm_abi_version
#undef hm_plugin_entry

#endif
