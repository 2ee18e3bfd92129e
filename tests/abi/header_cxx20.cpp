#include <halmark_plugin.h>

int header_works_in_cxx20() {
  const hm_memory_api* table = nullptr;
  return HM_HAS(table, fill) ? 0 : 1;
}
