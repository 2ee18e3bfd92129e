#include "good.h"

static int32_t describe(hm_prepared* prepared, hm_prepared_info* out, hm_error* error) {
  const int32_t status = info(prepared, out, error);
  out->implementation[0] = '\0';
  return status;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_kernel_api kernel;
  table = api;
  kernel = kernel_api;
  kernel.info = describe;
  table.kernel = &kernel;
  return &table;
}
