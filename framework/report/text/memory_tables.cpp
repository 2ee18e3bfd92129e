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

void describe_memory(RowCells& cells, const MemoryRow& r) {
  const auto size_text = [](std::int64_t bytes) { return bytes_text(bytes); };
  cells.text("configuration", r.label);
  cells.number("rank", std::to_string(r.rank->rank));
  cells.text("memory", r.role->role);
  cells.number("model", size_text(r.role->modelled_bytes));
  cells.number("allocated", size_text(r.role->allocated_bytes));
  cells.text("why they differ", causes_text(*r.role));
  if (r.rank->set_size) {
    cells.text("set size of the worker", set_size_text(*r.rank));
  } else {
    cells.text("set size of the worker", absent_text, r.rank->set_size_reason);
  }
}

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
  return table_of(rows, describe_memory);
}

}  // namespace halmark::report
