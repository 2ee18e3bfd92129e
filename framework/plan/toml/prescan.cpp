#include <algorithm>
#include <string>

#include "core/text/error.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

// Knows comments, the four string forms, and bare text; nothing else of TOML.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  void scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        end_line();
      } else if (c == '#') {
        skip_to_line_end();
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        bare(c);
      }
    }
  }

 private:
  void bare(char c) {
    if (c == '[' || c == '{') {
      if (++depth_ > toml_depth_max) fail("nesting exceeds " + std::to_string(toml_depth_max));
    } else if (c == ']' || c == '}') {
      depth_ = std::max(0, depth_ - 1);
    } else if (c == '.') {
      if (++dots_ > toml_dots_max) {
        fail("more than " + std::to_string(toml_dots_max) + " dots in one key");
      }
    } else if (c == '=' || c == ',') {
      dots_ = 0;
    }
    advance();
  }

  void skip_string(char quote) {
    const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
    if (text_.substr(at_).starts_with(triple)) {
      const std::size_t end = find_end(at_ + 3, triple, quote == '"');
      while (at_ < end) text_[at_] == '\n' ? count_line() : advance();
      return;
    }
    advance();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (quote == '"' && text_[at_] == '\\') advance();
      if (at_ < text_.size() && text_[at_] != '\n') advance();
    }
    if (at_ < text_.size() && text_[at_] == quote) advance();
  }

  std::size_t find_end(std::size_t from, std::string_view triple, bool escapes) const {
    for (std::size_t i = from; i < text_.size(); ++i) {
      if (escapes && text_[i] == '\\') {
        ++i;
      } else if (text_.substr(i).starts_with(triple)) {
        // Up to two quotes before the closing three belong to the string.
        std::size_t end = i + 3;
        while (end < text_.size() && end < i + 5 && text_[end] == triple.front()) ++end;
        return end;
      }
    }
    return text_.size();
  }

  void skip_to_line_end() {
    while (at_ < text_.size() && text_[at_] != '\n') advance();
  }

  void end_line() {
    count_line();
    dots_ = 0;
  }

  void count_line() {
    ++at_;
    ++line_;
    column_ = 1;
  }

  void advance() {
    if (column_ > toml_line_bytes_max) fail("the line is longer than 65536 bytes");
    ++at_;
    ++column_;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw refused(
        what, std::string(where_) + ':' + std::to_string(line_) + ':' + std::to_string(column_));
  }

  std::string_view text_, where_;
  std::size_t at_ = 0, line_ = 1, column_ = 1;
  int depth_ = 0, dots_ = 0;
};

}  // namespace

void prescan_toml(std::string_view text, std::string_view where) {
  if (text.size() > toml_bytes_max) {
    throw refused("the file has " + std::to_string(text.size()) + " bytes; the limit is " +
                      std::to_string(toml_bytes_max),
                  std::string(where));
  }
  if (text.find('\0') != std::string_view::npos) {
    throw refused("the file contains a NUL byte", std::string(where));
  }
  Scanner(text, where).scan();
}

}  // namespace halmark
