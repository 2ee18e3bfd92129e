#include "good.h"

static int32_t make_nothing(const hm_host* host, hm_plugin** plugin, hm_error* error) {
  (void)host, (void)plugin, (void)error;
  return HM_OK;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  table = api;
  table.create = make_nothing;
  return &table;
}
