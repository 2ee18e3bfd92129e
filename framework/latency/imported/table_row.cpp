#include "latency/imported/table_row.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// A cycle of any clock, and what no kernel takes.
constexpr double ns_min = 0.1, ns_max = 1e15;

// Nothing where the text is not a number as a whole.
std::optional<double> number(std::string_view field) {
  const auto value = read_number<double>(field);
  if (!value) return std::nullopt;
  return value;
}

}  // namespace

BoundLayout::BoundLayout(const CsvTable& table, const TableLayout& layout)
    : table_(table), layout_(layout) {
  for (const TableParameter& p : layout.parameters) {
    Parameter found;
    if (!p.column.empty()) found.column = table.column(p.column);
    for (const TableTerm& term : p.terms) {
      Term& to = found.terms.emplace_back(Term{term.factor, {}});
      for (const std::string& column : term.columns) to.columns.push_back(table.column(column));
    }
    parameters_.push_back(std::move(found));
  }
  for (const TableCondition& c : layout.conditions) {
    if (table.has(c.column)) conditions_.push_back({table.column(c.column), &c.values});
  }
  for (const std::string& name : layout.series) series_.push_back(table.column(name));
  if (layout.why_skipped.empty()) time_ = table.column(layout.time_column);
  kernel_source_ = find("kernel_source");
  backend_ = table.has("backend") ? find("backend") : find("framework");
}

std::size_t BoundLayout::find(std::string_view name) const {
  return table_.has(name) ? table_.column(name) : none;
}

bool BoundLayout::takes(std::size_t row) const {
  return std::ranges::all_of(conditions_, [&](const Condition& c) {
    return contains(*c.values, table_.row(row)[c.column]);
  });
}

std::uint32_t TableRow::line() const {
  const std::string where = bound_.table_.where(index_);
  const std::size_t colon = where.rfind(':');
  std::uint32_t out = 0;
  if (colon != std::string::npos) {
    std::from_chars(where.data() + colon + 1, where.data() + where.size(), out);
  }
  return out;
}

std::string_view TableRow::text(std::size_t parameter) const {
  const std::size_t column = bound_.parameters_[parameter].column;
  return column == BoundLayout::none ? std::string_view(layout().parameters[parameter].value)
                                     : field(column);
}

std::int64_t TableRow::integer_in(std::string_view text, const std::string& name) const {
  const auto value = number(text);
  // No number that is not finite is both equal to its floor and this small.
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e15) {
    fail(std::string("'") + printable(text) + "' is no integer for " + name);
  }
  return as_int64(*value);
}

std::int64_t TableRow::integer(std::size_t parameter) const {
  const TableParameter& p = layout().parameters[parameter];
  const BoundLayout::Parameter& found = bound_.parameters_[parameter];
  if (found.column != BoundLayout::none) return integer_in(field(found.column), p.name) + p.offset;
  if (found.terms.empty()) return integer_in(p.value, p.name) + p.offset;
  double out = as_double(p.offset);
  for (const BoundLayout::Term& term : found.terms) {
    double product = as_double(term.factor);
    for (const std::size_t column : term.columns) {
      product *= as_double(integer_in(field(column), p.name));
    }
    out += product;
  }
  if (!(std::abs(out) <= 1e15)) fail(p.name + " is beyond what a problem can have");
  return as_int64(out);
}

double TableRow::ns() const {
  const std::string_view text = field(bound_.time_);
  const auto value = number(text);
  const double ns = value.value_or(0) * layout().ns_per_unit;
  if (!value || !(ns > 0) || !std::isfinite(ns)) {
    fail(std::string("'") + printable(text) + "' is no time in column " + layout().time_column);
  }
  constexpr double rounding = 1e-9;  // of a limit that is written in decimals
  if (ns < ns_min * (1 - rounding) || ns > ns_max * (1 + rounding)) {
    fail(std::string("'") + printable(text) + "' is no time in column " + layout().time_column +
         ": a kernel takes between 0.1 ns and eleven days");
  }
  return ns;
}

SeriesIdentity TableRow::identity() const {
  SeriesIdentity out;
  if (bound_.kernel_source_ != BoundLayout::none) out.kernel_source = field(bound_.kernel_source_);
  if (bound_.backend_ != BoundLayout::none) out.backend = field(bound_.backend_);
  for (const std::size_t column : bound_.series_) {
    append_item(out.other, " ", field(column));
  }
  return out;
}

void TableRow::fail(const std::string& what) const {
  throw refused(what, bound_.table_.where(index_));
}

std::size_t TableRow::position(std::string_view name) const {
  const auto found = std::ranges::find(layout().parameters, name, &TableParameter::name);
  return as_size(found - layout().parameters.begin());
}

}  // namespace halmark
