#include "report/text/wrapped_text.hpp"

#include <algorithm>

#include "report/text/clean_text.hpp"

namespace halmark::report {

std::string wrapped(std::string_view text, int width, std::size_t indent) {
  const std::string clean = clean_text(text);
  const std::string margin(indent, ' ');
  std::string out, line;
  std::size_t at = 0;
  while (at < clean.size()) {
    // A piece is the spaces before a word and the word.
    const std::size_t word = std::min(clean.find_first_not_of(' ', at), clean.size());
    const std::size_t end = std::min(clean.find(' ', word), clean.size());
    if (word == clean.size()) break;
    const std::string piece = clean.substr(at, end - at);
    const bool has_word = line.find_first_not_of(' ') != std::string::npos;
    if (has_word && display_width(line) + display_width(piece) > width) {
      out += line + '\n';
      line = margin + clean.substr(word, end - word);
    } else {
      line += piece;
    }
    at = end;
  }
  return out + line + '\n';
}

std::string wrapped_lines(std::string_view text, int width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += wrapped(text.substr(0, end), width);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace halmark::report
