#include "core/input/json_keys.hpp"

#include <algorithm>
#include <array>

#include "core/ranges.hpp"

namespace halmark {
namespace {

constexpr std::size_t objects_deep = 2, lists_deep = 64, keys_max = 4096;

// Walks the text without recursion and stops where it ends or is no JSON.
class KeyWalk {
 public:
  explicit KeyWalk(std::string_view text) : text_(text) {}

  JsonKeys walk() {
    out_.is_list = peek() == '[';
    bool is_whole = true;
    while ((is_whole = step()) && !open_.empty()) {
    }
    out_.is_broken = !is_whole;
    return std::move(out_);
  }

 private:
  struct Open {
    bool is_object = false;
    std::size_t values = 0;
    std::string key;  // of an object: whose value comes
  };

  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool string(std::string& into) {
    into.clear();
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) into += text_[at_];
    }
    return at_++ < text_.size();
  }

  // A number or a word; the words of other programs (NaN, -inf) too.
  bool bare() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == text_.npos) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return false;
    static constexpr std::array words = {"true", "false",    "null",      "NaN", "nan",
                                         "-nan", "Infinity", "-Infinity", "inf", "-inf"};
    return std::string_view("-.0123456789").find(word[0]) != word.npos || contains(words, word);
  }

  void note_key(const std::string& key) {
    if (open_.size() > lists_deep) return;
    std::size_t objects = 0;
    std::string path;
    for (const Open& one : open_) {
      if (!one.is_object) {
        if (one.values > 0) return;  // of a list the first value speaks for all
        continue;
      }
      if (++objects > objects_deep) return;
      if (&one != &open_.back()) path += one.key + '.';
    }
    path += key;
    if (out_.paths.size() < keys_max && !contains(out_.paths, path)) {
      out_.paths.push_back(path);
    }
  }

  // Behind a value: what it stood in goes on or ends.
  bool end_value() {
    while (!open_.empty()) {
      Open& in = open_.back();
      ++in.values;
      const char next = peek();
      if (next == ',') {
        ++at_;
        return true;
      }
      if (next != (in.is_object ? '}' : ']')) return false;
      ++at_;
      open_.pop_back();
    }
    return true;
  }

  bool step() {
    if (!open_.empty() && open_.back().is_object && !key()) return false;
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      open_.push_back({.is_object = c == '{', .values = 0, .key = {}});
      const char next = peek();
      if (next == (c == '{' ? '}' : ']')) {
        ++at_;
        open_.pop_back();
        out_.is_json = true;
        return end_value();
      }
      return true;
    }
    if (c == '"' ? !string(word_) : !bare()) return false;
    out_.is_json = true;
    return end_value();
  }

  bool key() {
    if (peek() != '"' || !string(word_)) return false;
    if (peek() != ':') return false;
    ++at_;
    out_.is_json = true;
    note_key(word_);
    open_.back().key = word_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::string word_;
  JsonKeys out_;
};

}  // namespace

JsonKeys json_keys(std::string_view beginning) {
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (beginning[first] != '{' && beginning[first] != '[') return {};
  return KeyWalk(beginning.substr(first)).walk();
}

}  // namespace halmark
