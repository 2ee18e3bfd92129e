// What a line says, and what a refusal says: a failure names the place of the call.
#pragma once

#include <gmock/gmock.h>

#include <source_location>

#include "tests/unit/error_of.hpp"

namespace halmark {

inline void says(const std::string& line, const std::string& part,
                 std::source_location at = std::source_location::current()) {
  const testing::ScopedTrace trace(at.file_name(), static_cast<int>(at.line()), "");
  EXPECT_THAT(line, testing::HasSubstr(part));
}

template <class Call>
void refuses(Call call, const std::string& part,
             std::source_location at = std::source_location::current()) {
  says(test::error_of(call).line(), part, at);
}

}  // namespace halmark
