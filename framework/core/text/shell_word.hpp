#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace halmark {

// One word of a POSIX shell, whatever the text is.
inline std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:=,@%+").find(char(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

}  // namespace halmark
