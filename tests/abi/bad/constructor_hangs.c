#include "good.h"

#include <unistd.h>

__attribute__((constructor)) static void on_load(void) {
  for (;;) pause();
}

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) { return &api; }
