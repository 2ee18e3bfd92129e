// CSV whose rows say their columns (RFC 4180): each name stands beside its cell, once.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {

// Writes rows, cell by cell from left to right; the first row names the columns. A figure that is
// absent or not finite is an empty cell.
class CsvRows {
 public:
  void operator()(std::string_view name, std::string_view text) { add(name, csv_text(text)); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(std::string_view name, T value) {
    if constexpr (std::is_integral_v<T>) {
      add(name, std::to_string(value));
    } else {
      add(name, std::isfinite(value) ? exact_text(value) : "");
    }
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    value ? (*this)(name, *value) : add(name, "");
  }
  void end_row() {
    rows_ += "\r\n";
    is_first_row_ = false;
    is_first_cell_ = true;
  }
  std::string names() const { return names_ + "\r\n"; }
  std::string text() const { return names() + rows_; }

 private:
  void add(std::string_view name, std::string_view cell) {
    const char* comma = is_first_cell_ ? "" : ",";
    if (is_first_row_) names_.append(comma).append(name);
    rows_.append(comma).append(cell);
    is_first_cell_ = false;
  }

  std::string names_, rows_;
  bool is_first_row_ = true, is_first_cell_ = true;
};

// `describe(csv, row)` writes a row; `example` names the columns where there is none.
template <class Row, class Describe>
std::string csv_of(const std::vector<Row>& rows, const Describe& describe,
                   const Row& example = {}) {
  CsvRows out;
  for (const Row& row : rows) {
    describe(out, row);
    out.end_row();
  }
  if (!rows.empty()) return out.text();
  describe(out, example);
  return out.names();
}

}  // namespace halmark::report
