#include "study/storage/postgresql/columns.hpp"

#include "core/text/text.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {

void Column::add(std::string_view text) {
  begin_item() += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void Column::add(double value) {
  begin_item() +=
      std::string_view(value_type_name(value)) == "FINITE" ? number_text(value) : "NULL";
}

void Column::add_or_null(std::string_view text) {
  if (text.empty()) {
    begin_item() += "NULL";
  } else {
    add(text);
  }
}

double value_at(const pqxx::row& row, int column) {
  const pqxx::field field = row[column];
  return typed_value(field.is_null(), field.is_null() ? 0 : field.as<double>(),
                     row[column + 1].c_str());
}

}  // namespace halmark::journal
