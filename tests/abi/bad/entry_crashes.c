#include "good.h"

#include <signal.h>

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  raise(SIGSEGV);
  return &api;
}
