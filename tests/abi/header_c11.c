#include <halmark_plugin.h>

/* Designated initialisers fill a table, and HM_HAS reads it, in C as well. */
int header_works_in_c11(void);
int header_works_in_c11(void) {
  const hm_memory_api short_table = {.struct_size = 8};
  const hm_memory_api* table = &short_table;
  return HM_HAS(table, fill) ? 0 : 1;
}
