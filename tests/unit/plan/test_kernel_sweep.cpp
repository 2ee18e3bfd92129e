#include "plan/kernel_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/error_of.hpp"

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

}  // namespace
}  // namespace halmark
