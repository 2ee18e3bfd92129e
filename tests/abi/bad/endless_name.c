#include "good.h"

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static char name[4096];
  table = api;
  memset(name, 'x', sizeof name);
  table.name = name;
  return &table;
}
