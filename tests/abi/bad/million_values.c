#include "good.h"

static int64_t values[1000000];

static int32_t one(hm_device* device, uint32_t kernel, const hm_problem* problem, uint32_t* count,
                   hm_error* error) {
  (void)device, (void)kernel, (void)problem, (void)error;
  *count = 1;
  return HM_OK;
}
static int32_t get(hm_device* device, uint32_t kernel, const hm_problem* problem, uint32_t index,
                   hm_domain* out, hm_error* error) {
  (void)device, (void)kernel, (void)problem, (void)index, (void)error;
  hm_domain value = {.kind = HM_DOMAIN_LIST, .count = 1000000, .name = "block", .values = values};
  give(out, &value, sizeof value);
  return HM_OK;
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  static hm_plugin_api table;
  static hm_kernel_api kernel;
  table = api;
  kernel = kernel_api;
  kernel.domain_count = one;
  kernel.domain = get;
  table.kernel = &kernel;
  return &table;
}
