#include "good.h"

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_memory_api memory;
  table = api;
  memory = memory_api;
  memory.struct_size = (uint32_t)offsetof(hm_memory_api, fill);
  memset(&memory.fill, 0x5a, sizeof memory - offsetof(hm_memory_api, fill));
  table.memory = &memory;
  table.struct_size = (uint32_t)offsetof(hm_plugin_api, probe);
  memset(&table.probe, 0x5a, sizeof table - offsetof(hm_plugin_api, probe));
  return &table;
}
