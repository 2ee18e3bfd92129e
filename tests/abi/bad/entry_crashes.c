#include "good.h"

#include <signal.h>

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) {
  signal(SIGSEGV, SIG_DFL); /* past a sanitizer's handler */
  raise(SIGSEGV);
  return &api;
}
