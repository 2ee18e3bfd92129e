// Numbers as text for reasons and messages, the same in every locale. Reports have units of their
// own on top (report/text/quantity.hpp).
#pragma once

#include <string>

namespace halmark {

// The shortest text that reads back equal: "0.1", "1e+300"; "inf", "nan".
std::string number_text(double value);
// At most `digits` significant digits, without trailing zeros: "0.01235", "1e+10".
std::string number_text(double value, int digits);

}  // namespace halmark
