// One row of a table as its layout reads it: parameters by name, a time, who measured it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "latency/imported/csv_table.hpp"
#include "latency/imported/series.hpp"
#include "latency/imported/table_layout.hpp"

namespace halmark {

// A layout with its columns found. Keeps references to both.
class BoundLayout {
 public:
  // Throws Error (exit 2) for a column that the table has not.
  BoundLayout(const CsvTable& table, const TableLayout& layout);

  const CsvTable& table() const { return table_; }
  const TableLayout& layout() const { return layout_; }
  // Whether the row is one of those that the layout is for.
  bool takes(std::size_t row) const;

 private:
  friend class TableRow;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Term {
    std::int64_t factor = 1;
    std::vector<std::size_t> columns;
  };
  struct Parameter {
    std::size_t column = none;
    std::vector<Term> terms;
  };
  struct Condition {
    std::size_t column = none;
    const std::vector<std::string>* values = nullptr;
  };
  std::size_t find(std::string_view name) const;

  const CsvTable& table_;
  const TableLayout& layout_;
  std::vector<Parameter> parameters_;
  std::vector<Condition> conditions_;
  std::vector<std::size_t> series_;
  std::size_t time_ = none, kernel_source_ = none, backend_ = none;
};

class TableRow {
 public:
  TableRow(const BoundLayout& bound, std::size_t index) : bound_(bound), index_(index) {}

  const TableLayout& layout() const { return bound_.layout_; }
  std::uint32_t line() const;
  // By position in the layout, or by name. Throws Error (exit 2) with file:line.
  std::string_view text(std::size_t parameter) const;
  std::string_view text(std::string_view name) const { return text(position(name)); }
  std::int64_t integer(std::size_t parameter) const;
  std::int64_t integer(std::string_view name) const { return integer(position(name)); }
  // Above a tenth of a nanosecond and below eleven days: nothing else is the time of a kernel.
  double ns() const;
  // Without op and types, which are its problem's.
  SeriesIdentity identity() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::size_t position(std::string_view name) const;
  std::int64_t integer_in(std::string_view text, const std::string& name) const;
  std::string_view field(std::size_t column) const { return bound_.table_.row(index_)[column]; }

  const BoundLayout& bound_;
  std::size_t index_;
};

}  // namespace halmark
