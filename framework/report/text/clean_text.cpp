#include "report/text/clean_text.hpp"

namespace halmark::report {
namespace {

int columns(char32_t code) {
  const bool is_combining = (code >= 0x300 && code <= 0x36F) ||
                            (code >= 0x200B && code <= 0x200F) ||
                            (code >= 0xFE00 && code <= 0xFE0F);
  if (is_combining) return 0;
  const bool is_wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                       (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                       (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                       (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
  return is_wide ? 2 : 1;
}

bool starts_formula(std::string_view text) {
  if (!text.empty() && (text[0] == '\t' || text[0] == '\r')) return true;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         std::string_view("=+-@").find(text[first]) != std::string_view::npos;
}

// Clean, with `written` in the place of what `special` has at the same position; a backslash before
// the rest of it.
std::string escaped(std::string_view text, std::string_view special,
                    std::initializer_list<const char*> written) {
  std::string out;
  for (const char c : clean_text(text)) {
    const std::size_t at = special.find(c);
    if (at == std::string_view::npos) {
      out += c;
    } else if (at < written.size()) {
      out += written.begin()[at];
    } else {
      out.append(1, '\\').append(1, c);
    }
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) {
  return escaped(text, "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"});
}

std::string csv_text(std::string_view text) {
  std::string cell = (starts_formula(text) ? "'" : "") + clean_text(text);
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string markdown_text(std::string_view text) {
  return escaped(text, "&<>|`*_[]\\#!", {"&amp;", "&lt;", "&gt;"});
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    width += next.is_valid ? columns(next.code) : 1;
    text.remove_prefix(next.length);
  }
  return width;
}

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const int wide = next.is_valid ? columns(next.code) : 1;
    if (used + wide > width - 1) break;
    out += text.substr(0, next.length);
    used += wide;
    text.remove_prefix(next.length);
  }
  return width > 0 ? out + '~' : out;
}

}  // namespace halmark::report
