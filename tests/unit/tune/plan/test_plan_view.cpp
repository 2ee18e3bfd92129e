// A plan as it is shown before anything is opened.
#include "tests/unit/expect.hpp"
#include "tune/plan/plan_view.hpp"

#include <gmock/gmock.h>

#include "plan/sweep.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TunePlan plan_of(const std::string& more, bool is_measured = true, Target target = {}) {
  target.cores = 2;
  target.memory_bytes = std::int64_t{1} << 30;
  Sweep sweep =
      parse_sweep("name = \"s\"\nmodel = \"tiny-qwen3\"\ndtypes = [\"f32\"]\nshards = [1]\n" +
                      more + "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n",
                  "s.toml");
  ModelSpec spec = load_model(sweep.model, {halmark::test::in_source("/tests/data")});
  const std::vector<std::int64_t> shards = {1};
  return {std::move(sweep), std::move(spec), target, shards, {}, is_measured};
}

TEST(PlanView, counts_configurations_kernels_and_seconds) {
  const TunePlan plan = plan_of("[measure]\nrounds = 4\n");
  const report::View view = plan_view(plan);
  const std::string model = plan.spec().id, hash = plan.hash().substr(0, 12);
  EXPECT_THAT(view.text,
              ContainsRegex("^about [0-9.]+ s of measuring on cpu: 3 configurations of " + model +
                            "\nplan " + hash + "  model " + model + "  sampler grid\n"));
  EXPECT_EQ(view.data.at("measuring_s"), plan.forecast().seconds) << "a grid measures all of it";
  EXPECT_THAT(view.text,
              halmark::test::has_lines({"decode.*: 3 configurations of [0-9]+ combinations\n",
                                        "kernels [0-9]+ unique of all configurations, 4 rounds, "
                                        "predicted measuring time [0-9]+ s \\(basis: priors, no "
                                        "peaks measured yet\\)\n"}));
  EXPECT_THAT(view.text, halmark::test::has_none({"chooses what is measured", "winners:"}));
  EXPECT_THAT(view.text, Not(HasSubstr("routing skew"))) << "no experts";
  for (const int batch : {1, 2, 4}) {
    EXPECT_THAT(view.text, ContainsRegex("decode batch " + std::to_string(batch) +
                                         " f32 +dp1 tp1 pp1 ep1 +.*[a-z]+ [0-9]+ +[0-9]+\n"));
  }
  EXPECT_EQ(view.data.at("hash"), plan.hash());
  EXPECT_EQ(view.data.at("configurations").size(), 3u);
  EXPECT_EQ(view.data.at("kernels").size(), plan.forecast().kernels.size());
  EXPECT_EQ(view.data.at("kernels")[0], plan.forecast().kernels[0].key());
  EXPECT_EQ(view.data.at("predicted_s"), plan.forecast().seconds);
  EXPECT_THAT(view.data,
              halmark::test::HasValues(R"({"/basis": "priors", "/covers_everything": true,
      "/winners": 0})"));
  // The kernels by op: as many as the forecast has of it.
  std::map<std::string, int> by_op;
  for (const KernelCase& k : plan.forecast().kernels) ++by_op[k.problem.op];
  for (const auto& [op, count] : by_op) {
    EXPECT_THAT(view.text, ContainsRegex(op + " +" + std::to_string(count) + "\n"));
  }
}

TEST(PlanView, says_who_chooses_within_the_budget) {
  const TunePlan plan = plan_of("sampler = \"random\"\nbudget_s = 1\ntrials = 2\n");
  const report::View view = plan_view(plan);
  if (!plan.covers_everything()) {
    EXPECT_THAT(view.text,
                HasSubstr("budget 1 s: random chooses what is measured until it is spent"));
    EXPECT_TRUE(view.text.starts_with("about 1 s of measuring on cpu: ")) << view.text;
    EXPECT_THAT(view.text.substr(0, view.text.find('\n')), HasSubstr(", so random chooses"));
    EXPECT_EQ(view.data.at("measuring_s"), 1);
  }
  EXPECT_EQ(view.data.at("covers_everything"), plan.covers_everything());
}

TEST(PlanView, by_measured_peaks_says_so) {
  Target target;
  target.measured = Device{.id = "cpu:0"};
  target.measured->peaks = {{.path = "p", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1e11}};
  target.measured->bandwidths = {{.level = "memory", .threads = 2, .bytes_per_s = 1e10}};
  const report::View view = plan_view(plan_of("", true, target));
  EXPECT_THAT(view.text, HasSubstr("(basis: measured peaks)"));
  EXPECT_EQ(view.data.at("basis"), "measured peaks");
}

TEST(PlanView, that_is_priced_has_no_kernels) {
  const report::View view = plan_view(plan_of("", false));
  EXPECT_THAT(view.text, HasSubstr("3 configurations of "));
  EXPECT_THAT(view.text, Not(HasSubstr("predicted measuring time")));
  EXPECT_FALSE(view.data.contains("kernels"));
  EXPECT_TRUE(view.data.contains("discarded"));
  EXPECT_TRUE(view.data.contains("model_notes"));
}

}  // namespace
}  // namespace halmark::tune
