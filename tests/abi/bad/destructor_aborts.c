#include "good.h"

__attribute__((destructor)) static void on_exit_of_process(void) { abort(); }

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) { return &api; }
