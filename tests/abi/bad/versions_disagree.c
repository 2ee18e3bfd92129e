#include "good.h"

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  table = api;
  table.abi_version = HM_ABI_VERSION + 1;
  return &table;
}
