// Parameters as they are printed: "m=1 n=3072 src_dtype=bf16"; "?" is the next of the values.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "core/problem.hpp"

namespace halmark::test {

template <class... Values>
Params written(const std::string& text, Values... values) {
  const std::vector<std::int64_t> given = {static_cast<std::int64_t>(values)...};
  std::size_t next = 0;
  Params out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    const std::string value = word.substr(at + 1);
    const auto dtype = parse_dtype(value);
    out.set(word.substr(0, at), value == "?" ? given.at(next++)
                                : dtype      ? static_cast<std::int64_t>(*dtype)
                                             : std::stoll(value));
  }
  return out;
}

}  // namespace halmark::test
