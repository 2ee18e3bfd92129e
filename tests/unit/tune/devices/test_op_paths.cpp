// The path of each op as a table: types that take the same one share a line.
#include <gmock/gmock.h>

#include "core/text/text.hpp"
#include "tune/devices/op_paths.hpp"

namespace halmark::tune {
namespace {

using testing::HasSubstr;

OpPath attention(const std::string& what, const std::string& types, const std::string& by) {
  return {"cpu:0", "attention", what, types, "flash_attention", {by, "avx512_core", "own", "1.0"}};
}

TEST(OpPaths, types_with_one_implementation_share_a_line_and_no_others_do) {
  const std::vector<OpPath> paths = {attention("decode", "f32", "decode:avx512"),
                                     attention("decode", "bf16", "decode:avx512"),
                                     attention("prefill", "f32", "prefill:avx512"),
                                     attention("prefill", "bf16", "prefill:avx512_bf16")};
  const report::View view = paths_view(paths);
  EXPECT_EQ(std::ranges::count(view.text, '\n'), 4);  // the head and three paths
  EXPECT_THAT(view.text, HasSubstr("f32, bf16"));
  EXPECT_THAT(view.text, HasSubstr("own 1.0"));
  ASSERT_EQ(view.data["paths"].size(), 4u);
  EXPECT_EQ(view.data["paths"][3]["types"], "bf16");
  EXPECT_EQ(view.data["paths"][3]["implementation"]["name"], "prefill:avx512_bf16");
}

}  // namespace
}  // namespace halmark::tune
