#include "core/json/json.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "core/text/error.hpp"

namespace halmark {
namespace {

std::string position(std::string_view text, std::size_t byte, std::string_view where) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return std::string(where) + ':' + std::to_string(line) + ':' + std::to_string(column);
}

// Counts what the parser consumed, so that a refusal of ours has a position too.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t& count) : at_(at), count_(&count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

// Where the string that ends at byte `last` (1-based, its closing quote) begins.
std::size_t string_start(std::string_view text, std::size_t last) {
  std::size_t at = last - 1;
  while (at-- > 0) {
    if (text[at] != '"') continue;
    std::size_t slashes = 0;
    while (slashes < at && text[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return at + 1;
  }
  return last;
}

// SAX pass before the tree is built: the library would parse any depth and crash later.
class Gate : public nlohmann::json_sax<Json> {
 public:
  explicit Gate(std::string_view text) : text_(text) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t value, const string_t&) override {
    return std::isfinite(value) || fail("a number is out of range");
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    fail("key '" + name + "' appears twice");
    byte_ = string_start(text_, consumed_);
    return false;
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& e) override {
    byte_ = byte;
    const std::string what = e.what();
    // The library's own position is dropped: ours names the file.
    const std::size_t colon = what.rfind("; expected");
    reason_ = "not valid JSON" + (colon == std::string::npos ? std::string() : what.substr(colon));
    if (what.find("out_of_range") != std::string::npos) reason_ = "a number is out of range";
    return false;
  }

  std::string reason_;
  std::size_t byte_ = 0;      // 1-based, of what is refused
  std::size_t consumed_ = 0;  // by the parser so far

 private:
  bool deeper() {
    return ++depth_ <= json_depth_max ||
           fail("nesting exceeds " + std::to_string(json_depth_max) + " levels");
  }
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    byte_ = consumed_;
    return false;
  }
  std::string_view text_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;
};

void require_finite(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw std::logic_error("a non-finite number reached a JSON writer");
  }
  if (value.is_structured()) {
    for (const auto& item : value) require_finite(item);
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  if (text.size() > json_bytes_max) {
    throw refused("the document has " + std::to_string(text.size()) + " bytes; the limit is " +
                      std::to_string(json_bytes_max),
                  std::string(where));
  }
  Gate gate(text);
  const CountingIterator begin(text.data(), gate.consumed_);
  const CountingIterator end(text.data() + text.size(), gate.consumed_);
  if (!Json::sax_parse(begin, end, &gate))
    throw refused(gate.reason_, position(text, gate.byte_, where));
  return Json::parse(text);
}

Json read_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refused("cannot be read", path);
  // No more than the gate lets through: a file may be endless.
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (text.size() <= json_bytes_max && (file.read(buffer.data(), buffer.size()), true) &&
         file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw refused("cannot be read", path);  // a folder
  return parse_json(text, path);
}

std::string dump_json(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json optional_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace halmark
