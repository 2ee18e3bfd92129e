#include "core/json/json.hpp"

#include <cmath>
#include <iterator>
#include <stdexcept>
#include <unordered_set>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

static_assert(json_bytes_max == json_input.bytes_max);

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

// Builds the tree behind a gate: the library would parse any depth and crash later, and looks
// through a whole object for each of its keys, which takes minutes for one of a million.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return std::isfinite(value) ? add(value) : fail("a number is out of range");
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return open(Json::object());
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      fail("key '" + name + "' appears twice");
      byte_ = string_start(text_, consumed_);
      return false;
    }
    // New for certain: appended without the search.
    auto& members = open_.back()->get_ref<Json::object_t&>();
    members.emplace_back(std::move(name), Json());
    member_ = &members.back().second;
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
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

  Json root_;
  std::string reason_;
  std::size_t byte_ = 0;      // 1-based, of what is refused
  std::size_t consumed_ = 0;  // by the parser so far

 private:
  // Where the next value stands; nullptr beyond the limit of values.
  Json* place(Json value) {
    if (++values_ > json_values_max) {
      fail("more than " + std::to_string(json_values_max) + " values");
      return nullptr;
    }
    Json* at = &root_;
    if (!open_.empty() && open_.back()->is_array()) {
      auto& items = open_.back()->get_ref<Json::array_t&>();
      at = &items.emplace_back();
    } else if (!open_.empty()) {
      at = member_;
    }
    *at = std::move(value);
    return at;
  }
  bool add(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json empty) {
    if (open_.size() == static_cast<std::size_t>(json_depth_max)) {
      return fail("nesting exceeds " + std::to_string(json_depth_max) + " levels");
    }
    Json* const at = place(std::move(empty));
    open_.push_back(at);
    return at != nullptr;
  }
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    byte_ = consumed_;
    return false;
  }

  std::string_view text_;
  std::size_t values_ = 0;
  // Objects and arrays that are not closed yet: none of them moves, for only the last one grows.
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // the value of the last key
  std::vector<std::unordered_set<std::string>> keys_;
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
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.size() > json_bytes_max) {
    throw refused("the document has " + std::to_string(text.size()) + " bytes; the limit is " +
                      std::to_string(json_bytes_max),
                  std::string(where));
  }
  Builder builder(text);
  const CountingIterator begin(text.data(), builder.consumed_);
  const CountingIterator end(text.data() + text.size(), builder.consumed_);
  if (!Json::sax_parse(begin, end, &builder))
    throw refused(builder.reason_, position(text, builder.byte_, where));
  return std::move(builder.root_);
}

Json read_json_file(const std::string& path) {
  return parse_json(read_input(path, json_input), input_name(path));
}

std::string dump_json(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json optional_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace halmark
