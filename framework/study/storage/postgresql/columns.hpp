// Columns of many rows as one parameter, and Optuna's pairs of value and type.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <string>
#include <string_view>

namespace halmark::journal {

// An array literal: one parameter for a column of many rows.
class Column {
 public:
  void add(std::string_view text);
  void add(std::int64_t value) { begin_item() += std::to_string(value); }
  // What is not finite is NULL: the type beside it says what it is.
  void add(double value);
  void add_or_null(std::string_view text);
  bool empty() const { return text_.size() == 1; }
  std::string literal() const { return text_ + '}'; }

 private:
  std::string& begin_item() { return text_ += empty() ? "" : ","; }
  std::string text_ = "{";
};

// Of a value and the type in the column behind it.
double value_at(const pqxx::row& row, int column);

}  // namespace halmark::journal
