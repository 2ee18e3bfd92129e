// Numbers and lists as text for reasons and messages, the same in every locale. Reports have units
// of their own on top (report/text/quantity.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace halmark {

// The shortest text that reads back equal: "0.1", "1e+300"; "inf", "nan".
std::string number_text(double value);
// At most `digits` significant digits, without trailing zeros: "0.01235", "1e+10".
std::string number_text(double value, int digits);

// Behind what the list has, with `between` before all but the first.
void append_item(std::string& list, std::string_view between, std::string_view item);
// "1, 2, 5": the items or what `text` says of each, a function or a member.
template <class Items, class Text = std::identity>
std::string join(const Items& items, std::string_view between, const Text& text = {}) {
  std::string out;
  for (const auto& item : items) {
    const auto& said = std::invoke(text, item);
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(said)>>) {
      append_item(out, between, std::to_string(said));
    } else {
      append_item(out, between, said);
    }
  }
  return out;
}

// "0-3,8": ascending numbers, with runs of neighbours as one.
template <class Number>
std::string ranges_text(const std::vector<Number>& ascending) {
  std::string out;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    append_item(out, ",", std::to_string(ascending[i]));
    if (last > i) out += '-' + std::to_string(ascending[last]);
    i = last + 1;
  }
  return out;
}

std::string lower_case(std::string_view text);

// "2026-11-22": digits and dashes in their places.
bool is_date(std::string_view text);

}  // namespace halmark
