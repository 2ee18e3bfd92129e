// A table as data, and its three looks. Which columns exist is said once, in tables.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace halmark::report {

struct TableColumn {
  std::string title;
  bool is_number = false;
  std::string word =
      {};  // of the glossary, where the title is not one: "latency" of "latency, run 3"
};

struct TableCell {
  std::string text;
  std::string anchor;                // HTML: links to this place of the page
  std::string note;                  // HTML: tooltip
  std::optional<double> value = {};  // HTML: the figure that the text rounds, for sorting
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  std::string id = {};                        // HTML: of a table whose rows can be filtered
  std::vector<std::string> row_classes = {};  // HTML: of each row; empty = none
};

// Left-aligned columns give way until the table fits into `width` terminal columns.
std::string table_text(const Table& table, int width);
// As TextTable::text(width): columns are left out from the right, no cell is cut.
std::string fitted_text(const Table& table, int width);
std::string table_markdown(const Table& table);
// A scrollable, keyboard-reachable region with the caption as its name.
std::string table_html(const Table& table, const std::string& caption);

// Cells are never cut: files and pipes get all columns, a terminal those that fit.
class TextTable {
 public:
  // Columns of ">title" and of `is_number` are aligned to the right; the mark is not printed.
  explicit TextTable(const std::vector<std::string>& titles, std::vector<bool> is_number = {});
  void add(const std::vector<std::string>& cells);  // absent ones are empty
  std::string text() const;
  // For a terminal of `width` columns: columns are left out from the right until the others fit,
  // and a line names them. The first two, which tell rows apart, always stay.
  std::string text(int width) const;

 private:
  Table table_;
};

}  // namespace halmark::report
