#include "good.h"

static int32_t describe(hm_prepared* prepared, uint32_t index, hm_operand* out, hm_error* error) {
  const int32_t status = operand(prepared, index, out, error);
  out->rank = 9;
  return status;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_kernel_api kernel;
  table = api;
  kernel = kernel_api;
  kernel.operand = describe;
  table.kernel = &kernel;
  return &table;
}
