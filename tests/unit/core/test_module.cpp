#include "core/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace halmark {
namespace {

TEST(Module, that_is_absent_is_named_with_what_to_do) {
  try {
    module_symbol("no_such_part", "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::unfit);
    EXPECT_THAT(error.line(), testing::AllOf(testing::HasSubstr("halmark_no_such_part.so"),
                                             testing::HasSubstr("reinstall halmark")));
  }
}

}  // namespace
}  // namespace halmark
