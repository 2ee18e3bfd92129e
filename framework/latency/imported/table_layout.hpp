// How the columns of a third-party table become problems: built-in for layouts that are widely
// published, or stated in a TOML file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/imported/csv_table.hpp"

namespace halmark {

struct TableParameter {
  std::string name;         // of the contract
  std::string column;       // where its value is; empty = `value`
  std::string value;        // the same in every row
  std::int64_t offset = 0;  // added to what the column says
};

// What a row stands for beyond its columns.
enum class TableForm {
  plain,       // one problem of `op`
  experts,     // both linear layers of all experts, fused: a row becomes two grouped_gemm
  collective,  // op in a column, size in elements as nccl-tests counts them
};

struct TableLayout {
  std::string name;
  std::string op;
  TableForm form = TableForm::plain;
  std::string time_column = "latency";
  double ns_per_unit = 1e6;
  std::vector<TableParameter> parameters;
  // Columns that tell implementations apart: rows that differ there are different series.
  std::vector<std::string> series;
};

// The built-in layout whose columns the table has; nothing when none fits.
std::optional<TableLayout> known_layout(const CsvTable& table);

// A layout file:
//   op = "gemm"
//   time = "latency_us"
//   unit = "us"                 # ns, us, ms, s
//   series = ["library"]        # optional
//   [[parameter]]
//   name = "m"
//   column = "rows"             # or value = "bf16"; offset = 1 is added
// Throws Error (exit 2) with file:line:column.
TableLayout read_layout(const std::string& path);
TableLayout parse_layout(std::string_view text, std::string_view where);

}  // namespace halmark
