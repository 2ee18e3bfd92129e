#include "good.h"

static int32_t make_nothing(hm_plugin* plugin, uint32_t index, const hm_config* options,
                            hm_device** device, hm_error* error) {
  (void)plugin, (void)index, (void)options, (void)device, (void)error;
  return HM_OK;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_device_api device;
  table = api;
  device = device_api;
  device.open = make_nothing;
  table.device = &device;
  return &table;
}
