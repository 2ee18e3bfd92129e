// std::to_chars instead of streams or printf: those follow the locale, and a comma in a record or a
// plan would be read back as another number.
#include "core/text/text.hpp"

#include <array>
#include <charconv>

#include "core/lists.hpp"

namespace halmark {
namespace {

template <class... Format>
std::string written(double value, Format... format) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...);
  return {buffer.data(), end.ptr};
}

}  // namespace

std::string number_text(double value) { return written(value); }

std::string number_text(double value, int digits) {
  return written(value, std::chars_format::general, digits);
}

void append_item(std::string& list, std::string_view between, std::string_view item) {
  if (!list.empty()) list += between;
  list += item;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_date(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-dd";
  if (text.size() != form.size()) return false;
  for (const auto i : indices(form)) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !is_digit : text[i] != '-') return false;
  }
  return true;
}

}  // namespace halmark
