#include "good.h"

static int32_t answer(hm_plugin* plugin, uint32_t* count, hm_error* error) {
  (void)plugin, (void)count, (void)error;
  return 999;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_device_api device;
  table = api;
  device = device_api;
  device.count = answer;
  table.device = &device;
  return &table;
}
