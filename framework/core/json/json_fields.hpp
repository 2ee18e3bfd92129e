// Fields of core values in JSON. Included by the files that read and write them alone.
#pragma once

#include <stdexcept>
#include <string>

#include "core/json/json.hpp"

namespace halmark::json_fields {

template <class T>
T value_or(const Json& in, const char* key, T fallback) {
  const auto it = in.find(key);
  return it == in.end() || it->is_null() ? fallback : it->template get<T>();
}

inline std::optional<double> number(const Json& in, const char* key) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

inline Dtype dtype_at(const Json& in, const char* key) {
  const auto dtype = parse_dtype(in.at(key).get<std::string>());
  if (!dtype) throw std::invalid_argument(std::string("unknown data type in '") + key + "'");
  return *dtype;
}

inline Status status_at(const Json& in, const char* key) {
  const auto status = parse_status(in.at(key).get<std::string>());
  if (!status) throw std::invalid_argument(std::string("unknown status in '") + key + "'");
  return *status;
}

inline Provenance provenance_at(const Json& in, const char* key) {
  const auto text = in.at(key).get<std::string>();
  for (const auto p : {Provenance::measured, Provenance::imported, Provenance::interpolated,
                       Provenance::fabric, Provenance::roofline}) {
    if (provenance_name(p) == text) return p;
  }
  throw std::invalid_argument("unknown provenance '" + text + "'");
}

}  // namespace halmark::json_fields
