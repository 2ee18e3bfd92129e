#include "good.h"

static int32_t describe(hm_plugin* plugin, uint32_t index, hm_device_info* out, hm_error* error) {
  const int32_t status = device_describe(plugin, index, out, error);
  memset(out, 0x5a, sizeof *out + 16);
  return status;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_device_api device;
  table = api;
  device = device_api;
  device.describe = describe;
  table.device = &device;
  return &table;
}
