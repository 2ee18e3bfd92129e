#include "good.h"

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static const hm_comm_api comm = {.struct_size = sizeof comm};
  table = api;
  table.comm = &comm;
  return &table;
}
