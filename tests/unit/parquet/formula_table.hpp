// The table that peers wrote (tests/data/parquet/make.py), by its formulas, as CSV states its
// cells.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/numeric/cast.hpp"

namespace halmark::test {

inline constexpr std::int64_t formula_rows = 300;

inline std::vector<std::string> formula_header() {
  return {"flag", "small", "wide", "single", "real", "name", "gap", "note"};
}

// The shortest text of one form by trying one precision after another, and the shorter of both
// forms.
template <class T, class Read>
std::string shortest(T value, Read read) {
  const auto in_form = [&](const char* form) -> std::string {
    char text[40];
    for (int digits = 0;; ++digits) {
      std::snprintf(text, sizeof text, form, digits, as_double(value));
      if (read(text) == value) return text;
    }
  };
  const std::string plain = in_form("%.*f"), scientific = in_form("%.*e");
  return plain.size() <= scientific.size() ? plain : scientific;
}

inline std::vector<std::string> formula_row(std::int64_t k) {
  return {k % 3 == 0 ? "true" : "false",
          std::to_string(k * 7 - 100),
          std::to_string((k * k - 50) * 1000000007),
          shortest(static_cast<float>(k) / 8, [](const char* t) { return std::stof(t); }),
          shortest(as_double(k) / 7, [](const char* t) { return std::stod(t); }),
          "kernel_" + std::to_string(k % 5),
          k % 4 == 1 ? "" : std::to_string(k),
          k % 3 == 2 ? "" : "n" + std::to_string(k)};
}

}  // namespace halmark::test
