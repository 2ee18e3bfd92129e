// Text that must not change by accident. The expected files are reviewed like code:
// HALMARK_UPDATE_GOLDEN=1 with this program writes them anew, and the difference is read.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/json/json.hpp"

namespace halmark::golden {

// Compares with tests/golden/expected/<name>, byte for byte; tells the first line that differs.
testing::AssertionResult is_as_expected(const std::string& text, const std::string& name);

// JSON for a reader: what holds only plain values stands on one line, and such values share lines.
std::string reviewable(const Json& json);

}  // namespace halmark::golden
