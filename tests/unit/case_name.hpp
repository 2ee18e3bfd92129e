// Names of the cases of a parametrised suite. GoogleTest would number them and print the bytes of a
// parameter: names that change with the address space, or with every row that is inserted.
#pragma once

#include <cctype>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::test {

// One word of a name, from a text, a number or a list of texts.
struct NamePart {
  std::string text;

  NamePart(std::string_view from) : text(from) {}
  NamePart(const char* from) : text(from) {}
  NamePart(const std::string& from) : text(from) {}
  NamePart(const std::vector<std::string>& from) {
    for (const std::string& one : from) text += one + ' ';
  }
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> NamePart(Number number) {
    char digits[40];
    text.assign(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
};

// Letters, digits and single '_' only, as GoogleTest asks; a negative number begins with "minus".
inline std::string case_name(std::initializer_list<NamePart> parts) {
  std::string out;
  for (const NamePart& part : parts) {
    if (!out.empty() && out.back() != '_') out += '_';
    for (std::size_t i = 0; i < part.text.size(); ++i) {
      const auto is_digit = [&](std::size_t at) {
        return at < part.text.size() && std::isdigit(static_cast<unsigned char>(part.text[at]));
      };
      const char c = part.text[i];
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        out += c;
      } else if (c == '-' && is_digit(i + 1) && (i == 0 || !is_digit(i - 1))) {
        out += "minus";
      } else if (!out.empty() && out.back() != '_') {
        out += '_';
      }
    }
  }
  constexpr std::size_t length_max = 90;
  if (out.size() > length_max) out.resize(length_max);
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "empty" : out;
}

}  // namespace halmark::test
