#include <halmark_plugin.h>
#include <stdlib.h>

uint32_t hm_abi_version(void) { return 99u << 16; }
const hm_plugin_api* hm_plugin_entry(void) { abort(); }
