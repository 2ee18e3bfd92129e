#include "good.h"

static int32_t two(hm_plugin* plugin, uint32_t* count, hm_error* error) {
  (void)plugin, (void)error;
  *count = 2;
  return HM_OK;
}
static int32_t describe(hm_plugin* plugin, uint32_t index, hm_kernel_info* out, hm_error* error) {
  (void)index;
  return kernel_describe(plugin, 0, out, error);
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_kernel_api kernel;
  table = api;
  kernel = kernel_api;
  kernel.count = two;
  kernel.describe = describe;
  table.kernel = &kernel;
  return &table;
}
