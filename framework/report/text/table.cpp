#include "report/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/glossary.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

constexpr int narrowest = 6;
constexpr int value_digits = 9;  // of figures in data-v

std::vector<int> natural_widths(const Table& table) {
  std::vector<int> widths;
  for (const auto c : indices(table.columns)) {
    int width = display_width(clean_text(table.columns[c].title));
    for (const auto& row : table.rows) {
      width = std::max(width, display_width(clean_text(row[c].text)));
    }
    widths.push_back(width);
  }
  return widths;
}

// Takes columns from the widest text column first; numbers give way only when text cannot.
std::vector<int> fitted_widths(const Table& table, int width, int gap) {
  std::vector<int> widths = natural_widths(table);
  const int gaps = gap * (as_int(widths.size()) - 1);
  while (std::accumulate(widths.begin(), widths.end(), gaps) > width) {
    const auto rank = [&](std::size_t c) {
      if (widths[c] <= narrowest) return 0;
      return table.columns[c].is_number ? widths[c] : 10'000 + widths[c];
    };
    std::size_t widest = 0;
    for (std::size_t c = 1; c < widths.size(); ++c) {
      if (rank(c) > rank(widest)) widest = c;
    }
    if (rank(widest) == 0) break;
    --widths[widest];
  }
  return widths;
}

std::string padded(const std::string& text, int width, bool is_number) {
  const std::string shown = shortened(clean_text(text), width);
  const auto fill = as_size(std::max(0, width - display_width(shown)));
  return is_number ? std::string(fill, ' ') + shown : shown + std::string(fill, ' ');
}

std::string text_line(const std::vector<TableColumn>& columns, const std::vector<int>& widths,
                      const std::vector<std::string>& cells, int gap) {
  std::string line;
  for (const auto c : indices(cells)) {
    if (c > 0) line += std::string(as_size(gap), ' ');
    line += padded(cells[c], widths[c], columns[c].is_number);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

// "r2 r5": the number columns, aligned by the style sheet; a class per cell would be a tenth of the
// page.
std::string number_columns(const Table& table) {
  std::string out;
  for (const auto c : indices(table.columns)) {
    if (table.columns[c].is_number) out += (out.empty() ? "r" : " r") + std::to_string(c + 1);
  }
  return out;
}

std::string table_names(const Table& table) {
  if (table.id.empty()) return " class=\"" + number_columns(table) + '"';
  return " id=\"" + table.id + "\" class=\"rows " + number_columns(table) + '"';
}

// A heading explains itself where the pointer rests on it.
std::string html_heading(const TableColumn& column) {
  std::string out = "<th scope=\"col\"";
  if (column.is_number) out += " class=\"n\"";
  if (const Term* term = find_term(column.word.empty() ? column.title : column.word)) {
    out += " title=\"" + html_text(term->meaning) + '"';
  }
  return out + '>' + html_text(column.title) + "</th>";
}

std::string html_cell(const TableCell& cell) {
  std::string out = "<td";
  if (cell.value && std::isfinite(*cell.value))
    out += " data-v=\"" + number_text(*cell.value, value_digits) + '"';
  if (!cell.note.empty()) out += " title=\"" + html_text(cell.note) + '"';
  out += '>';
  if (cell.anchor.empty()) return out + html_text(cell.text) + "</td>";
  return out + "<a href=\"#" + cell.anchor + "\">" + html_text(cell.text) + "</a></td>";
}

}  // namespace

std::string table_text(const Table& table, int width) {
  // Two spaces between columns where nothing has to be cut for them, else one.
  const std::vector<int> natural = natural_widths(table);
  const int gap = fitted_widths(table, width, 2) == natural ? 2 : 1;
  const std::vector<int> widths = fitted_widths(table, width, gap);
  auto cells = mapped(table.columns, &TableColumn::title);
  std::string out = text_line(table.columns, widths, cells, gap);
  for (const auto& row : table.rows) {
    cells.clear();
    for (const TableCell& cell : row) cells.push_back(cell.text);
    out += text_line(table.columns, widths, cells, gap);
  }
  return out;
}

TextTable::TextTable(const std::vector<std::string>& titles, std::vector<bool> is_number) {
  is_number.resize(titles.size());
  for (const auto c : indices(titles)) {
    const bool is_marked = titles[c].starts_with('>');
    table_.columns.push_back({titles[c].substr(is_marked ? 1 : 0), is_marked || is_number[c]});
  }
}

void TextTable::add(const std::vector<std::string>& cells) {
  std::vector<TableCell>& row = table_.rows.emplace_back(table_.columns.size());
  for (const auto c : indices(std::min(cells.size(), row.size()))) row[c].text = cells[c];
}

std::string TextTable::text() const { return stdout_text(table_); }

std::string TextTable::text(int width) const { return fitted_text(table_, width); }

std::string fitted_text(const Table& table, int width) {
  Table shown = table;
  std::string left_out;
  const auto is_too_wide = [&] {
    const std::vector<int> widths = natural_widths(shown);
    const auto gaps = std::ssize(widths) - 1;
    return std::accumulate(widths.begin(), widths.end(), gaps) > width;
  };
  while (shown.columns.size() > 2 && is_too_wide()) {
    left_out = shown.columns.back().title + (left_out.empty() ? "" : ", ") + left_out;
    shown.columns.pop_back();
    for (auto& row : shown.rows) row.pop_back();
  }
  if (left_out.empty()) return table_text(shown, is_too_wide() ? unlimited_width : width);
  const std::string note = "no room in " + std::to_string(width) + " columns for: " + left_out;
  return table_text(shown, is_too_wide() ? unlimited_width : width) + wrapped(note, width);
}

std::string table_markdown(const Table& table) {
  std::string out = "|";
  std::string rule = "|";
  for (const TableColumn& column : table.columns) {
    out += ' ' + markdown_text(column.title) + " |";
    rule += column.is_number ? " ---: |" : " --- |";
  }
  out += '\n' + rule + '\n';
  for (const auto& row : table.rows) {
    out += '|';
    for (const TableCell& cell : row) out += ' ' + markdown_text(cell.text) + " |";
    out += '\n';
  }
  return out;
}

std::string table_html(const Table& table, const std::string& caption) {
  std::string out = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" +
                    html_text(caption) + "\"><table" + table_names(table) + "><thead><tr>";
  for (const TableColumn& column : table.columns) out += html_heading(column);
  out += "</tr></thead><tbody>\n";
  for (const auto r : indices(table.rows)) {
    out += r < table.row_classes.size() ? "<tr class=\"" + table.row_classes[r] + "\">" : "<tr>";
    for (const TableCell& cell : table.rows[r]) out += html_cell(cell);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace halmark::report
