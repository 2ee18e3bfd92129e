// Values of one line of a journal file, which Python writes: what is no JSON, and what rows have of
// it. Each throws std::invalid_argument or an exception of JSON for a value that cannot be read.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json_type.hpp"
#include "study/storage/backends.hpp"

namespace halmark::journal {

// The bare words NaN and Infinity in quotes, so that a JSON parser takes the line.
std::string with_quoted_words(std::string_view line);
// Those words as numbers too; null is NaN.
double number_of(const Json& json);
// "2026-11-21T10:20:30.123456" or with "+00:00" behind it, as rows have it; "" where there is none.
std::string time_of(const Json& line, const char* key);
void set_all(Attributes& attributes, const Json& line, const char* key);
// From "values", or from the one "value" of older versions.
void set_values(TrialRow& row, const Json& line);
TrialState state_at(const Json& line);

}  // namespace halmark::journal
