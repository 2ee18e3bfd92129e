#include "good.h"

void symbol_that_nobody_defines(void);

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  symbol_that_nobody_defines();
  return &api;
}
