#include <gmock/gmock.h>

#include <string>

#include "plan/param_grid.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> values(const std::string& text, const std::string& name) {
  std::vector<std::int64_t> out;
  for (const Params& params : parse_param_grid(text)) out.push_back(params.at(name));
  return out;
}

std::string refusal(const std::string& text) {
  return test::error_of([&] { parse_param_grid(text); }).line();
}

TEST(ParamGrid, nothing_given_is_one_empty_set) {
  EXPECT_THAT(parse_param_grid(""), ElementsAre(Params{}));
}

TEST(ParamGrid, single_values_are_one_set) {
  EXPECT_THAT(parse_param_grid("m=1,n=-2,src_dtype=bf16"),
              ElementsAre(Params{
                  {"m", 1}, {"n", -2}, {"src_dtype", static_cast<std::int64_t>(Dtype::bf16)}}));
}

TEST(ParamGrid, lists_combine_and_the_last_name_varies_fastest) {
  EXPECT_THAT(parse_param_grid("bytes=[8,4],ranks=[2,3]"),
              ElementsAre(Params{{"bytes", 8}, {"ranks", 2}}, Params{{"bytes", 8}, {"ranks", 3}},
                          Params{{"bytes", 4}, {"ranks", 2}}, Params{{"bytes", 4}, {"ranks", 3}}));
}

TEST(ParamGrid, ranges_multiply_or_add_and_include_an_end_that_they_meet) {
  EXPECT_THAT(values("b=[64..1024*4]", "b"), ElementsAre(64, 256, 1024));
  EXPECT_THAT(values("b=[64..1023*4]", "b"), ElementsAre(64, 256));
  EXPECT_THAT(values("b=[0..9+3]", "b"), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(values("b=[7..7*2]", "b"), ElementsAre(7));
  EXPECT_THAT(values("b=[1,16..64*2,100]", "b"), ElementsAre(1, 16, 32, 64, 100));
}

TEST(ParamGrid, ranges_end_below_the_largest_integer) {
  EXPECT_EQ(values("b=[1..9223372036854775807*2]", "b").back(), std::int64_t{1} << 62);
  EXPECT_THAT(values("b=[9223372036854775806..9223372036854775807+1]", "b"),
              ElementsAre(9223372036854775806, 9223372036854775807));
}

TEST(ParamGrid, dtypes_go_in_lists_too) {
  EXPECT_THAT(
      values("dtype=[f32,f16]", "dtype"),
      ElementsAre(static_cast<std::int64_t>(Dtype::f32), static_cast<std::int64_t>(Dtype::f16)));
}

TEST(ParamGrid, says_what_is_wrong_and_where) {
  test::expect_each(refusal, {{"bytes", "'bytes' is not name=value"},
                              {"m=1,,n=2", "'' is not name=value"},
                              {"m=x", "'x' is no integer for m"},
                              {"m=[]", "'' is no integer for m"},
                              {"m=99999999999999999999", "too large for m"},
                              {"dtype=bf61", "or 'bf16'?"},
                              {"m=1,m=2", "m is given twice"},
                              {"m=[1,2,1]", "m=1 is given twice"},
                              {"dtype=[f32,f32]", "dtype=f32 is given twice"},
                              {"m=[1..8]", "names no step"},
                              {"m=[8..1*2]", "ends before it begins"},
                              {"m=[1..8*1]", "never arrives"},
                              {"m=[0..8*2]", "never arrives"},
                              {"m=[1..8+0]", "never arrives"},
                              {"m=[1,2", "'[' without ']'"},
                              {"m=1]", "']' without '['"},
                              {"m=[1]2", "text behind ']' for m"},
                              {"m=[[1]]", "brackets inside brackets"}});
}

TEST(ParamGrid, is_bounded) {
  test::expect_each(refusal, {{"m=[1..1000000+1]", "more than 4096 values"},
                              {"m=[1..100+1],n=[1..100+1]", "more than 4096 combinations"}});
}

TEST(ParamGrid, bounds_are_taken_themselves) {
  EXPECT_EQ(values("m=[1..4096+1]", "m").size(), 4096u);
  EXPECT_THAT(refusal("m=[1..4097+1]"), HasSubstr("more than 4096 values"));
  EXPECT_EQ(parse_param_grid("m=[1..64+1],n=[1..64+1]").size(), 4096u);
  EXPECT_THAT(refusal("m=[1..64+1],n=[1..65+1]"), HasSubstr("more than 4096 combinations"));
  EXPECT_THAT(values("m=[1..3*2]", "m"), ElementsAre(1, 2));
  EXPECT_THAT(values("m=[-3..0+2]", "m"), ElementsAre(-3, -1));
  test::expect_each(refusal, {{"m=[-4..8*2]", "never arrives"},
                              {"m=[1..8+-1]", "never arrives"},
                              {"=1", "'=1' is not name=value"},
                              {"m=1x", "'1x' is no integer for m"},
                              {"m=x", "forms: name=4096"}});
}

}  // namespace
}  // namespace halmark
