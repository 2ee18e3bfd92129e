// Layers per stage as a parameter of a sweep: beside equal stages, each with its own number of
// stages.
#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "plan/sweep.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::tune {
namespace {

Sweep sweep_with(const std::string& more) {
  return parse_sweep("name = \"stages\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\n" + more +
                         "\n[[workload]]\nphase = \"decode\"\nbatch = 4\ncontext = 128\n",
                     "test.toml");
}

std::vector<Configuration> configurations(const Sweep& sweep) {
  const ModelSpec spec = load_model("qwen3-0.6b", {halmark::test::in_source("/configs/models")});
  const std::vector<std::int64_t> shards = {1, 2, 4};
  const TuneProblem problem = problems_of(sweep, spec, shards, {}).front();
  std::vector<Configuration> out;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    out.push_back(problem.at(problem.space().point(i)));
    EXPECT_FALSE(check_configuration(spec, out.back())) << out.back().key();
  }
  return out;
}

TEST(StatedStages, stand_beside_equal_ones_with_their_own_number_of_stages) {
  const auto plain = configurations(sweep_with(""));
  const auto stated = configurations(sweep_with("stages = [\"10,18\", \"12,16\", \"4,8,8,8\"]"));
  const auto pipelines = [&](const std::vector<Configuration>& all, int pp) {
    return std::ranges::count_if(all, [pp](const Configuration& c) {
      return c.parallel.pp == pp && c.parallel.stages.empty();
    });
  };
  const auto of_two = pipelines(plain, 2), of_four = pipelines(plain, 4);
  EXPECT_EQ(pipelines(stated, 2), of_two);
  EXPECT_EQ(pipelines(stated, 4), of_four);
  EXPECT_EQ(std::ssize(stated), std::ssize(plain) + 2 * of_two + of_four);
  for (const Configuration& c : stated) {
    if (!c.parallel.stages.empty()) {
      EXPECT_EQ(std::ssize(c.parallel.stages), c.parallel.pp);
    }
  }
}

TEST(StatedStages, that_do_not_go_with_the_model_are_refused) {
  const auto refusal_of = [](const std::string& text) -> std::string {
    try {
      configurations(sweep_with(text));
    } catch (const Error& e) {
      return e.line();
    }
    return "";
  };
  halmark::test::expect_each(
      refusal_of,
      {{"stages = [\"10,17\"]", "stages 10,17 hold 27 layers, and qwen3-0.6b has 28"},
       {"stages = [\"10,\"]", "no layers per stage"},
       {"stages = [\"0,28\"]", "no layers per stage"},
       {"sampler = \"certify\"\nstages = [\"10,18\"]", "proofs know equal ones alone"}});
}

TEST(StatedStages, are_read_as_they_are_written) {
  EXPECT_EQ(parse_stages("10,18", "x"), (std::vector<int>{10, 18}));
  EXPECT_EQ(parse_stages("28", "x"), (std::vector<int>{28}));
  for (const char* bad : {"", ",", "1,,2", "1;2", "-1,2", "a", "1, 2"}) {
    EXPECT_THROW(parse_stages(bad, "x"), Error) << bad;
  }
}

}  // namespace
}  // namespace halmark::tune
