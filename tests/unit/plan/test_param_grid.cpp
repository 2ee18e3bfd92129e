#include <gmock/gmock.h>

#include <string>

#include "plan/kernel_sweep.hpp"
#include "plan/param_grid.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HasSubstr;

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

template <class Call>
std::string said(Call call) {
  return test::error_of(call).line();
}

const std::string kernels = R"([[kernel]]
op = "gemm"
params = "m=[1,16],n=64,k=64"
dtypes = ["f32"]
)";

TEST(KernelSweep, has_backends_as_choices_and_problems_without_a_model) {
  const KernelSweep sweep = parse_kernel_sweep(
      "name = \"g\"\nbackends = [\"cpu\", \"opencl:1\", \"cpu:0/2\"]\nbudget_s = 30\n" + kernels,
      "g.toml");
  ASSERT_EQ(sweep.backends.size(), 3U);
  EXPECT_EQ(sweep.backends[0].text(), "cpu:0");
  EXPECT_EQ(sweep.backends[1].text(), "opencl:1");
  EXPECT_EQ(sweep.backends[2].parts, 2);
  EXPECT_EQ(sweep.kernels.at(0).op, "gemm");
  EXPECT_EQ(sweep.sampler, "grid");
  EXPECT_EQ(sweep.budget_s, 30);
}

TEST(KernelSweep, refuses_with_the_place_in_the_file) {
  struct Case {
    std::string text, said;
  };
  for (const Case& c : {Case{"name = \"g\"\nbackends = [\"cpu\", \"cpu:0\"]\n", "g.toml:2:1"},
                        Case{"name = \"g\"\nbackends = [\"cpu/2\"]\n", "is no backend"},
                        Case{"name = \"g\"\n", "backends"},
                        Case{"name = \"g\"\nmodel = \"m\"\nbackends = [\"cpu\"]\n", "g.toml:2:9"},
                        Case{"name = \"g\"\nbackends = [\"cpu\"]\nshards = [1]\n", "g.toml:3:1"}}) {
    EXPECT_THAT(said([&] { parse_kernel_sweep(c.text + kernels, "g.toml"); }), HasSubstr(c.said))
        << c.text;
  }
  EXPECT_THAT(said([&] {
                parse_kernel_sweep("name = \"g\"\nbackends = [\"cpu\"]\n" + kernels +
                                       "[measure]\nin_stack = true\n",
                                   "g.toml");
              }),
              AllOf(HasSubstr("g.toml:"), HasSubstr("no neighbours")));
}

TEST(KernelSweep, is_no_sweep_of_a_model) {
  EXPECT_THAT(said([] { parse_sweep("name = \"g\"\n" + kernels, "g.toml"); }),
              AllOf(HasSubstr("g.toml:2:"), HasSubstr("a sweep of kernels has no model")));
}

const std::string head = "name = \"g\"\nbackends = [\"cpu\"]\n";

TEST(KernelSweep, takes_everything_that_is_written) {
  const KernelSweep sweep = parse_kernel_sweep(
      head +
          "variants = [\"a\", \"b\"]\nmode = \"rotate_all\"\nsets = 7\nsampler = \"nsga2\"\n"
          "trials = 9\nseed = 5\n" +
          kernels + "[measure]\nrounds = 2\n[containment]\ncreate_s = 5\n",
      "g.toml");
  EXPECT_EQ(sweep.file, "g.toml");
  EXPECT_EQ(sweep.name, "g");
  EXPECT_EQ(sweep.variants, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sweep.mode, CacheMode::rotate_all);
  EXPECT_EQ(sweep.sets, 7);
  EXPECT_EQ(sweep.sampler, "nsga2");
  EXPECT_EQ(sweep.sampler_where, "g.toml:6:11");
  EXPECT_EQ(sweep.trials, 9);
  EXPECT_EQ(sweep.seed, 5u);
  EXPECT_EQ(sweep.measure.rounds, 2);
  EXPECT_EQ(sweep.containment.phases.size(), 1u);
  EXPECT_EQ(parse_kernel_sweep("mode = \"hot\"\n" + head + kernels, "g").mode, CacheMode::hot);
}

TEST(KernelSweep, has_its_defaults) {
  const KernelSweep sweep = parse_kernel_sweep(head + kernels, "g.toml");
  EXPECT_TRUE(sweep.variants.empty());
  EXPECT_EQ(sweep.mode, CacheMode::rotate_const);
  EXPECT_EQ(sweep.sets, 4);
  EXPECT_EQ(sweep.trials, 0);
  EXPECT_EQ(sweep.seed, 1u);
  EXPECT_EQ(sweep.budget_s, 180);
  EXPECT_FALSE(sweep.measure.in_stack);
  EXPECT_THAT(said([] { parse_kernel_sweep(head + "varians = 1\n" + kernels, "g"); }),
              HasSubstr("did you mean 'variants'"));
}

TEST(KernelSweep, is_told_from_a_sweep_of_a_model_by_its_kernels) {
  const test::ScratchFolder folder;
  test::write_file(folder / "k.toml", head + kernels);
  test::write_file(folder / "m.toml",
                   "name = 'm'\nmodel = 'x'\ndtypes = 'f32'\n[[workload]]\nphase = 'decode'\n"
                   "batch = 1\ncontext = 8\n");
  const auto of_kernels = read_tune_file(folder / "k.toml"),
             of_model = read_tune_file(folder / "m.toml");
  ASSERT_TRUE(std::holds_alternative<KernelSweep>(of_kernels));
  EXPECT_EQ(std::get<KernelSweep>(of_kernels).file, folder / "k.toml");
  ASSERT_TRUE(std::holds_alternative<Sweep>(of_model));
  EXPECT_EQ(std::get<Sweep>(of_model).file, folder / "m.toml");
}

}  // namespace
}  // namespace halmark
