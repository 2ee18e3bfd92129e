// Fields as JSON. Included by the sources that instantiate it alone.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/json/json_type.hpp"

namespace halmark::json_fields {

class Writer;

template <class T>
concept Listed = requires(Writer& v, const T& m) {
  fields(v, m);
};

template <class T>
Json written(const T& value);
template <class T>
Json written(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (value && !std::isfinite(*value)) return {};
  }
  return value ? written(*value) : Json();
}
template <class T>
Json written(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(written(value));
  return out;
}

inline std::string text_of_key(const std::string& key) { return key; }
std::string text_of_key(std::integral auto key) { return std::to_string(key); }
template <class K, class T>
Json written(const std::map<K, T>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[text_of_key(key)] = written(value);
  return out;
}

class Writer {
 public:
  static constexpr bool reads = false;
  explicit Writer(Json& out) : members_((out = Json::object()).get_ref<Json::object_t&>()) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    members_.emplace_back(key, written(value));  // keys of a list differ: none is searched for
  }
  template <class T>
  void later(const char* key, const T& value, const T& = {}) {
    (*this)(key, value);
  }
  template <class T>
  void unless_default(const char* key, const T& value, const T& fallback = {}) {
    if (!(value == fallback)) (*this)(key, value);
  }
  template <class T>
  void unless_default(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void as_text(const char* key, std::uint64_t value) { (*this)(key, std::to_string(value)); }
  void null_if_infinite(const char* key, double value) { (*this)(key, std::optional(value)); }
  template <class List>
  void group(const char* key, const List& list) {
    Json object;
    Writer inside(object);
    list(inside);
    members_.emplace_back(key, std::move(object));
  }
  void check(bool, const char*, const char*) const {}

 private:
  Json::object_t& members_;
};

template <class T>
Json written(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(closed_set<T>.name(value));
  } else if constexpr (Listed<T>) {
    Json out;
    Writer writer(out);
    fields(writer, value);
    return out;
  } else {
    return value;
  }
}

[[noreturn]] inline void expected(const char* what) {
  throw std::invalid_argument(std::string("expected ") + what);
}

template <std::integral T>
void read_digits(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) expected("a number in a string");
}
inline void read_digits(const std::string& text, std::string& value) { value = text; }

inline void read(const Json& json, std::string& value) {
  if (!json.is_string()) expected("a string");
  value = json.get_ref<const std::string&>();
}
inline void read(const Json& json, bool& value) {
  if (!json.is_boolean()) expected("true or false");
  value = json.get<bool>();
}
inline void read(const Json& json, double& value) {
  if (!json.is_number()) expected("a number");
  value = json.get<double>();
  if (!std::isfinite(value)) expected("a finite number");
}
template <std::integral T>
void read(const Json& json, T& value) {
  const auto take = [&](auto wide) {
    if (!std::in_range<T>(wide)) expected("an integer in range");
    value = static_cast<T>(wide);
  };
  if (json.is_number_unsigned()) return take(json.get<std::uint64_t>());
  if (!json.is_number_integer()) expected("an integer");
  take(json.get<std::int64_t>());
}
template <class T>
void read(const Json& json, T& value);
template <class T>
void read(const Json& json, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) read(json, value.emplace());
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) expected("a list");
  values.clear();
  values.reserve(json.size());
  for (const Json& item : json) read(item, values.emplace_back());
}

template <class K, class T>
void read(const Json& json, std::map<K, T>& values) {
  if (!json.is_object()) expected("an object");
  values.clear();
  for (const auto& [text, item] : json.items()) {
    K key{};
    read_digits(text, key);
    read(item, values[key]);
  }
}

class Reader {
 public:
  static constexpr bool reads = true;
  explicit Reader(const Json& in) : in_(in) {
    if (!in.is_object()) expected("an object");
  }

  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = in_.find(key);
    if (found == in_.end()) {
      throw std::invalid_argument(std::string("field '") + key + "' is missing");
    }
    named(key, [&] { read(*found, value); });
  }
  template <class T>
  void later(const char* key, T& value, const T& before = {}) {
    if (in_.contains(key)) return (*this)(key, value);
    value = before;
  }
  template <class T>
  void unless_default(const char* key, T& value, const T& fallback = {}) {
    later(key, value, fallback);
  }
  void as_text(const char* key, std::uint64_t& value) {
    std::string text;
    (*this)(key, text);
    named(key, [&] { read_digits(text, value); });
  }
  void null_if_infinite(const char* key, double& value) {
    std::optional<double> finite;
    (*this)(key, finite);
    value = finite.value_or(std::numeric_limits<double>::infinity());
  }
  template <class List>
  void group(const char* key, const List& list) {
    const auto found = in_.find(key);
    if (found == in_.end()) {
      throw std::invalid_argument(std::string("field '") + key + "' is missing");
    }
    named(key, [&] {
      Reader inside(*found);
      list(inside);
    });
  }
  void check(bool is_right, const char* key, const char* what) const {
    if (!is_right) named(key, [&] { expected(what); });
  }

 private:
  template <class Read>
  static void named(const char* key, const Read& read_it) {
    try {
      read_it();
    } catch (const std::exception& error) {
      throw std::invalid_argument(std::string(key) + ": " + error.what());
    }
  }

  const Json& in_;
};

template <class T>
void read(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    std::string word;
    read(json, word);
    const auto named = closed_set<T>.parse(word);
    if (!named) expected(closed_set<T>.what);
    value = *named;
  } else if constexpr (Listed<T>) {
    Reader reader(json);
    fields(reader, value);
  } else {
    json.get_to(value);
  }
}

}  // namespace halmark::json_fields
