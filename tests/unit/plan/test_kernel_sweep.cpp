#include "plan/kernel_sweep.hpp"

#include <gmock/gmock.h>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
