// A small strict reader of markup: every tag closed in order, every attribute quoted, no raw "<" or
// stray "&". What it accepts, an XML parser accepts too (apart from the doctype).
#pragma once

#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::test {

struct MarkupTag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

struct Markup {
  std::string error;  // empty when well formed
  std::vector<MarkupTag> tags;
  std::string text;    // all character data
  std::string script;  // what stands in script elements
};

class MarkupReader {
 public:
  explicit MarkupReader(std::string_view text) : rest_(text) {}

  Markup read() {
    while (!rest_.empty() && out_.error.empty()) {
      if (rest_.starts_with("<!doctype html>")) {
        rest_.remove_prefix(15);
      } else if (rest_.front() == '<') {
        read_tag();
      } else if (rest_.front() == '&') {
        read_entity();
      } else {
        out_.text += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    if (out_.error.empty() && !open_.empty()) out_.error = "never closed: " + open_.back();
    return out_;
  }

 private:
  void fail(const std::string& why) {
    out_.error = why + " at: " + std::string(rest_.substr(0, 60));
  }

  std::string name() {
    std::size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) != 0 ||
                                rest_[n] == '-' || rest_[n] == ':')) {
      ++n;
    }
    const std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }

  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }

  void read_entity() {
    for (const std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (rest_.starts_with(known)) {
        rest_.remove_prefix(known.size());
        return;
      }
    }
    fail("stray ampersand");
  }

  void read_tag() {
    if (rest_.starts_with("</")) {
      rest_.remove_prefix(2);
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed) return fail("unexpected end of " + closed);
      open_.pop_back();
      if (!rest_.starts_with(">")) return fail("malformed end");
      rest_.remove_prefix(1);
      return;
    }
    rest_.remove_prefix(1);
    MarkupTag tag{.name = name()};
    if (tag.name.empty()) return fail("raw <");
    while (read_attribute(tag)) {
    }
    if (!out_.error.empty()) return;
    const bool is_empty = rest_.starts_with("/>");
    if (!is_empty && !rest_.starts_with(">")) return fail("malformed tag " + tag.name);
    rest_.remove_prefix(is_empty ? 2 : 1);
    if (!is_empty) open_.push_back(tag.name);
    const bool is_script = tag.name == "script" && !is_empty;
    out_.tags.push_back(std::move(tag));
    if (!is_script) return;
    // Raw text up to its end, and no markup of its own.
    const std::size_t end = rest_.find("</script>");
    if (end == std::string_view::npos) return fail("script without end");
    out_.script += rest_.substr(0, end);
    rest_.remove_prefix(end);
  }

  bool read_attribute(MarkupTag& tag) {
    skip_space();
    if (rest_.empty() || rest_.front() == '>' || rest_.front() == '/') return false;
    const std::string key = name();
    if (key.empty() || !rest_.starts_with("=\"")) {
      fail("unquoted attribute " + key);
      return false;
    }
    rest_.remove_prefix(2);
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) {
      fail("attribute without end");
      return false;
    }
    const std::string value(rest_.substr(0, end));
    if (value.find('<') != std::string::npos || !tag.attributes.emplace(key, value).second) {
      fail("bad attribute " + key);
      return false;
    }
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view rest_;
  Markup out_;
  std::vector<std::string> open_;
};

inline Markup read_markup(std::string_view text) { return MarkupReader(text).read(); }

}  // namespace halmark::test
