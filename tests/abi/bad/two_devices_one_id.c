#include "good.h"

static int32_t two(hm_plugin* plugin, uint32_t* count, hm_error* error) {
  (void)plugin, (void)error;
  *count = 2;
  return HM_OK;
}
static int32_t describe(hm_plugin* plugin, uint32_t index, hm_device_info* out, hm_error* error) {
  const int32_t status = device_describe(plugin, 0, out, error);
  (void)index;
  return status;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_device_api device;
  table = api;
  device = device_api;
  device.count = two;
  device.describe = describe;
  table.device = &device;
  return &table;
}
