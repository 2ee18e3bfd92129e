#include "sql/session.hpp"

#include <charconv>
#include <stdexcept>

#include "core/lists.hpp"

namespace halmark::sql {
namespace {

template <class Number>
Number number_in(const std::string& text) {
  Number out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

std::string in_dialect(std::string_view text, std::span<const Word> words, Dialect dialect) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find('{', at);
    out += text.substr(at, begin - at);
    if (begin == std::string_view::npos) return out;
    at = text.find('}', begin) + 1;
    const std::string_view name = text.substr(begin, at - begin);
    const auto* word = find_or_null(words, name, &Word::word);
    if (!word) throw std::logic_error("no dialect has " + std::string(name));
    out += dialect == Dialect::sqlite ? word->sqlite : word->postgresql;
  }
}

std::int64_t Value::integer() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  if (const auto* number = std::get_if<double>(&value_)) return as_int64(*number);
  return number_in<std::int64_t>(text());
}

double Value::number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return as_double(*integer);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return number_in<double>(text());
}

const std::string& Value::text() const {
  static const std::string none;
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  const auto* bytes = std::get_if<Bytes>(&value_);
  return bytes != nullptr ? bytes->bytes : none;
}

}  // namespace halmark::sql
