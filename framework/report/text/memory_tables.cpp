// What runs took of memory, role by role, against the memory model.
#include "report/text/memory_text.hpp"
#include "report/text/table_columns.hpp"

namespace halmark::report {
namespace {

struct MemoryRow {
  const MemoryOfRank* rank = nullptr;
  const RoleMemory* role = nullptr;
  std::string label;
};

TableCell size_cell(std::int64_t bytes) { return plain(bytes_text(static_cast<double>(bytes))); }

constexpr Column<MemoryRow> memory_columns[] = {
    {"configuration", false, true, [](const MemoryRow& r) { return plain(r.label); }},
    {"rank", true, true, [](const MemoryRow& r) { return plain(std::to_string(r.rank->rank)); }},
    {"memory", false, true, [](const MemoryRow& r) { return plain(r.role->role); }},
    {"model", true, true, [](const MemoryRow& r) { return size_cell(r.role->modelled_bytes); }},
    {"allocated", true, true,
     [](const MemoryRow& r) { return size_cell(r.role->allocated_bytes); }},
    {"why they differ", false, true,
     [](const MemoryRow& r) { return plain(causes_text(*r.role)); }},
    {"set size of the worker", false, true,
     [](const MemoryRow& r) {
       return r.rank->set_size ? plain(set_size_text(*r.rank))
                               : noted(absent_text, r.rank->set_size_reason);
     }},
};

}  // namespace

Table memory_table(const RunReport& report) {
  std::vector<MemoryRow> rows;
  for (const Validation& v : report.validations) {
    if (!v.memory) continue;
    const std::string label = run_label(report, v.deployment_key);
    for (const MemoryOfRank& rank : v.memory->ranks) {
      for (const RoleMemory& role : rank.roles) rows.push_back({&rank, &role, label});
    }
  }
  return make_table<MemoryRow>(memory_columns, rows, TableWidth::wide);
}

}  // namespace halmark::report
