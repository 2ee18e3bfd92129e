#include <halmark_plugin.h>

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
