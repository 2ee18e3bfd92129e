// Tables whose rows say their columns: each title stands beside its cell, once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/text/quantity.hpp"
#include "report/text/tables.hpp"

namespace halmark::report {

// Writes the cells of one row, left to right. The first row of a table names its columns.
class RowCells {
 public:
  explicit RowCells(Table& table) : columns_(table.columns), cells_(table.rows.emplace_back()) {}

  // `note`: a tooltip of the page.
  void text(const char* title, std::string_view text, std::string_view note = {}) {
    cell({title}, {.text = std::string(text), .note = std::string(note)});
  }
  void number(const char* title, std::string_view text, std::string_view note = {}) {
    cell({title, true}, {.text = std::string(text), .note = std::string(note)});
  }
  void cell(TableColumn column, TableCell cell) {
    if (cells_.size() == columns_.size()) columns_.push_back(std::move(column));
    cells_.push_back(std::move(cell));
  }

 private:
  std::vector<TableColumn>& columns_;
  std::vector<TableCell>& cells_;
};

// `describe(cells, row)` writes a row; `example` names the columns where there is none.
template <class Row, class Describe>
Table table_of(const std::vector<Row>& rows, const Describe& describe, const Row& example = {}) {
  Table table;
  const auto add = [&](const Row& row) {
    RowCells cells(table);
    describe(cells, row);
  };
  for (const Row& row : rows) add(row);
  if (rows.empty()) {
    add(example);
    table.rows.clear();
  }
  return table;
}

// "decode b4 int8 tp2": what a run was of.
std::string run_label(const RunReport& report, const std::string& key);

inline std::string or_dash(const std::string& text) { return text.empty() ? absent_text : text; }

// A figure in its unit; "-" where it is absent.
inline std::string text_or_dash(std::optional<double> value, std::string (*text)(double)) {
  return value ? text(*value) : absent_text;
}

}  // namespace halmark::report
