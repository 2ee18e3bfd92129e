// How the columns of a third-party table become problems: built-in for layouts that are widely
// published, or stated in a TOML file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "latency/imported/csv_table.hpp"

namespace halmark {

// `factor` times the columns' values.
struct TableTerm {
  std::int64_t factor = 1;
  std::vector<std::string> columns;
};

struct TableParameter {
  std::string name;         // of the contract
  std::string column;       // where its value is; empty = `value`
  std::string value;        // the same in every row
  std::int64_t offset = 0;  // added to what the column says
  // Where it is in no column by itself: the sum of these.
  std::vector<TableTerm> terms = {};
};

// Rows whose column has one of these values. A table without the column says it by its name.
struct TableCondition {
  std::string column;
  std::vector<std::string> values;
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
  // Columns that tell implementations apart beside kernel_source, backend and types: rows that
  // differ there are different series.
  std::vector<std::string> series = {};
  std::vector<TableCondition> conditions = {};  // all of them hold for its rows
  std::string why_skipped = {};                 // rows that are known, and no problem of any op
};

// Rows of one table may be of several kernels: each is read by the first that takes it.
using TableLayouts = std::vector<TableLayout>;

// The built-in layouts whose columns the table has.
TableLayouts known_layouts(const CsvTable& table);
TableLayouts built_in_layouts();
// Of rows whose column `kind` says so: the built-in ones of that name, or of "op_NAME" the one
// whose columns are the parameters of that op.
TableLayouts layouts_of_kind(std::string_view kind);
inline constexpr std::string_view op_kind_prefix = "op_";
// That of a parameter there: its name, behind the prefix where it is that of another column.
std::string op_column(std::string_view parameter);

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
