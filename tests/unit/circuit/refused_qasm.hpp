// What the reader of OpenQASM says to each text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "circuit/qasm.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {

inline std::string refusal_of(const std::string& text) {
  try {
    parse_qasm(text, "a.qasm");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.line();
  }
  return "accepted";
}

// Text behind the head -> what the line says.
inline void expect_refusals(const std::vector<std::pair<std::string, std::string>>& rows,
                            const std::string& head = "") {
  for (const auto& [text, said] : rows) {
    EXPECT_THAT(refusal_of(head + text), ::testing::HasSubstr(said)) << text;
  }
}

}  // namespace halmark::circuit
