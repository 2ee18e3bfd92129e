// Tables as lists of columns: a title, whether it holds numbers, and how a row makes its cell.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/text/quantity.hpp"
#include "report/text/tables.hpp"

namespace halmark::report {

template <class Row>
struct Column {
  const char* title;
  bool is_number;
  bool is_narrow;  // also shown where there are 120 columns
  TableCell (*cell)(const Row& row);
};

template <class Row>
Table make_table(std::span<const Column<Row>> columns, const std::vector<Row>& rows,
                 TableWidth width) {
  Table table;
  const auto is_shown = [&](const Column<Row>& c) {
    return width == TableWidth::wide || c.is_narrow;
  };
  for (const Column<Row>& column : columns) {
    if (is_shown(column)) table.columns.push_back({column.title, column.is_number});
  }
  for (const Row& row : rows) {
    std::vector<TableCell> cells;
    for (const Column<Row>& column : columns) {
      if (is_shown(column)) cells.push_back(column.cell(row));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

inline TableCell plain(std::string text) { return {.text = std::move(text)}; }

inline TableCell noted(std::string text, std::string note) {
  return {.text = std::move(text), .note = std::move(note)};
}

// "decode b4 int8 tp2": what a run was of.
std::string run_label(const RunReport& report, const std::string& key);

inline std::string or_dash(const std::string& text) { return text.empty() ? absent_text : text; }

}  // namespace halmark::report
