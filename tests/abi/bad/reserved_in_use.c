#include "good.h"

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_kernel_api kernel;
  table = api;
  kernel = kernel_api;
  kernel.reserved = 7;
  table.kernel = &kernel;
  return &table;
}
