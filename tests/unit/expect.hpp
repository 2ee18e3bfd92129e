// Expectations of several things at once, which say what is missing.
#pragma once

#include <gmock/gmock.h>

#include <initializer_list>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::test {

// A document that has each value of an object at the place that its key says as a JSON pointer;
// what is not there is null.
MATCHER_P(HasValues, places, "has " + std::string(places)) {
  const Json whole = arg, expected = Json::parse(places);
  bool has_all = true;
  for (const auto& [place, value] : expected.items()) {
    const Json::json_pointer at(place);
    const Json found = whole.contains(at) ? whole.at(at) : Json();
    if (found == value) continue;
    has_all = false;
    *result_listener << "\n" << place << " is " << found.dump();
  }
  return has_all;
}

using OfText = testing::Matcher<const std::string&>;

template <class Match>
OfText of_each(const std::vector<std::string>& parts, Match match) {
  std::vector<OfText> each;
  for (const std::string& part : parts) each.push_back(match(part));
  return testing::AllOfArray(each);
}

inline OfText has_all(const std::vector<std::string>& parts) {
  return of_each(parts, [](const std::string& part) { return testing::HasSubstr(part); });
}

inline OfText has_none(const std::vector<std::string>& parts) {
  return of_each(parts,
                 [](const std::string& part) { return testing::Not(testing::HasSubstr(part)); });
}

inline OfText has_lines(const std::vector<std::string>& patterns) {
  return of_each(patterns,
                 [](const std::string& pattern) { return testing::ContainsRegex(pattern); });
}

// What is said of the first of each pair contains the second.
template <class Say>
void expect_each(Say say, std::initializer_list<std::pair<std::string, std::string>> pairs,
                 std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()),
                                   "called here");
  for (const auto& [given, part] : pairs) {
    EXPECT_THAT(say(given), testing::HasSubstr(part)) << given;
  }
}

// The call ends with an Error that says `part`, with this code where one is named.
template <class Call>
void expect_error(Call call, const std::string& part, ExitCode code = ExitCode::ok,
                  std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()),
                                   "called here");
  const Error error = error_of(call);
  EXPECT_THAT(error.line(), testing::HasSubstr(part));
  if (code != ExitCode::ok) {
    EXPECT_EQ(error.exit_code(), code);
  }
}

}  // namespace halmark::test
