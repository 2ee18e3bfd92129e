// Numbers as text for reasons and messages, the same in every locale. Reports have units of their
// own on top (report/text/quantity.hpp).
#pragma once

#include <string>
#include <string_view>

namespace halmark {

// The shortest text that reads back equal: "0.1", "1e+300"; "inf", "nan".
std::string number_text(double value);
// At most `digits` significant digits, without trailing zeros: "0.01235", "1e+10".
std::string number_text(double value, int digits);

std::string lower_case(std::string_view text);

// "2026-11-22": digits and dashes in their places.
bool is_date(std::string_view text);

}  // namespace halmark
