// Plans: numbers of shards, samplers and their budgets, targets, and what a stored plan says.
#include "core/json/json.hpp"
#include "tests/unit/expect.hpp"
#include "tune/plan/plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/chosen/winner.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::has_all;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t mib = 1ll << 20;

Target two_cores(std::int64_t memory_bytes = 1024 * mib) {
  Target out;
  out.fingerprint = "machine-1";
  out.cores = 2;
  out.memory_bytes = memory_bytes;
  return out;
}

std::string toml(const std::string& more, const std::string& workload = "") {
  return "name = \"s\"\nmodel = \"tiny-qwen3\"\ndtypes = [\"f32\"]\nshards = [1]\n" + more +
         (workload.empty() ? "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n"
                           : workload);
}

TunePlan plan_of(const std::string& text, const Target& target = two_cores(),
                 bool is_measured = true) {
  Sweep sweep = parse_sweep(text, "s.toml");
  ModelSpec spec = load_model(sweep.model, {halmark::test::in_source("/tests/data")});
  const std::vector<std::int64_t> shards = shard_counts(sweep, 2);
  return {std::move(sweep), std::move(spec), target, shards, {}, is_measured};
}

TEST(Target, rings_are_bounded_by_the_plateau_half_a_gibibyte_and_a_quarter_of_the_memory) {
  Target target = two_cores(8192 * mib);
  EXPECT_EQ(target.ring_bytes(1), 256 * mib) << "the prior, before peaks are measured";
  target.measured = Device{.ring_plateau_bytes = 300 * mib};
  EXPECT_EQ(target.ring_bytes(1), 300 * mib);
  target.measured->ring_plateau_bytes = 1000 * mib;
  EXPECT_EQ(target.ring_bytes(1), 512 * mib);
  EXPECT_EQ(target.ring_bytes(4), 512 * mib);
  EXPECT_EQ(target.ring_bytes(8), 256 * mib) << "8192 / 4 / 8";
  target.measured->ring_plateau_bytes.reset();
  EXPECT_EQ(target.ring_bytes(1), 256 * mib);
}

TEST(Target, shards_of_one_device_share_its_memory_and_cores) {
  Target target = two_cores(100);
  target.cores = 6;
  target.device = "3";
  EXPECT_TRUE(target.is_shared());
  EXPECT_EQ(target.memory_of_rank(4), 25);
  EXPECT_EQ(target.placement(3).parts, 3);
  EXPECT_EQ(target.placement(3).device, "3");
  EXPECT_EQ(target.placement(3).winners, &target.winners);
  EXPECT_EQ(target.facts(3).shard.threads, 2);
  EXPECT_EQ(target.facts(3).shard.parts, 3);
  EXPECT_EQ(target.facts(8).shard.threads, 1);
  EXPECT_EQ(target.bounding().threads, 6);
  EXPECT_EQ(target.bounding().device, nullptr);
  target.measured = Device{.id = "cpu:0"};
  EXPECT_EQ(target.bounding().device, &*target.measured);
}

TEST(Target, a_device_per_shard_has_its_memory_alone) {
  Target target;
  target.backend = "cuda";
  target.memory_bytes = 100;
  EXPECT_FALSE(target.is_shared());
  EXPECT_EQ(target.memory_of_rank(4), 100);
  EXPECT_EQ(target.placement(4).parts, 1);
  EXPECT_EQ(target.placement(4).backend, "cuda");
}

TEST(ShardCounts, are_the_sweeps_or_one_to_all_cores) {
  Sweep sweep;
  EXPECT_THAT(shard_counts(sweep, 3), ElementsAre(1, 2, 3));
  sweep.shards = {4, 2};
  EXPECT_THAT(shard_counts(sweep, 3), ElementsAre(4, 2));
}

TEST(ShardCounts, of_a_device_apart_are_one_where_the_sweep_states_none) {
  const auto shards_of = [](bool is_apart, const std::string& stated) {
    Target target = two_cores();
    target.is_apart = is_apart;
    const auto plan = measured_plan(
        parse_sweep("name = \"s\"\nmodel = \"tiny-qwen3\"\ndtypes = [\"f32\"]\n" + stated +
                        "[[workload]]\nphase = \"decode\"\nbatch = [4]\ncontext = 128\n",
                    "s.toml"),
        target, false, {halmark::test::in_source("/tests/data")}, {});
    std::set<int> out;
    for (const Configuration& c : plan->forecast().configurations) out.insert(c.devices());
    return out;
  };
  EXPECT_THAT(shards_of(false, ""), ElementsAre(1, 2)) << "a CPU is cut";
  EXPECT_THAT(shards_of(true, ""), ElementsAre(1));
  EXPECT_THAT(shards_of(true, "shards = [2]\n"), ElementsAre(2)) << "who asks for two has two";
}

TEST(CheckSampler, knows_the_table_and_certify) {
  Sweep sweep;
  for (const std::string& name : sampler_names()) {
    sweep.sampler = name;
    EXPECT_NO_THROW(check_sampler(sweep)) << name;
    EXPECT_THAT(sampler_help(), HasSubstr(name));
  }
  sweep.sampler = "certify";
  EXPECT_NO_THROW(check_sampler(sweep));
  EXPECT_THAT(sampler_help(), HasSubstr("\ncertify "));
  sweep.sampler = "certfy";
  sweep.sampler_where = "s.toml:3:11";
  const Error error = error_of([&] { check_sampler(sweep); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), has_all({"'certfy'", "s.toml:3:11", "certify"}));
}

TEST(SampleRule, is_what_the_sweep_says) {
  const protocol::SampleRule rule =
      sample_rule({.sample_budget_s = 0.75, .samples_min = 17, .warmup_cap_s = 0.375});
  EXPECT_EQ(rule.min_samples, 17);
  EXPECT_EQ(rule.budget_s, 0.75);
  EXPECT_EQ(rule.warmup_cap_s, 0.375);
}

TEST(TunePlan, covers_everything_up_to_its_budget) {
  const double seconds = plan_of(toml("")).forecast().seconds;
  ASSERT_GT(seconds, 0);
  const auto with_budget = [&](double share) {
    return toml("sampler = \"random\"\nbudget_s = " + std::to_string(seconds * share) + "\n");
  };
  const TunePlan enough = plan_of(with_budget(1.001)), less = plan_of(with_budget(0.999));
  EXPECT_TRUE(enough.covers_everything());
  EXPECT_FALSE(less.covers_everything());
  EXPECT_EQ(less.configurations(), 3u) << "only a grid is trimmed";
  EXPECT_THAT(std::vector(less.left_out().begin(), less.left_out().end()), IsEmpty());
}

TEST(TunePlan, a_plan_that_is_priced_forecasts_nothing) {
  const TunePlan plan = plan_of(toml(""), two_cores(), false);
  EXPECT_TRUE(plan.forecast().kernels.empty());
  EXPECT_FALSE(plan.is_measured());
  EXPECT_FALSE(plan.json().contains("kernels"));
  EXPECT_FALSE(plan.json().contains("rounds"));
  EXPECT_EQ(plan.configurations(), 3u);
}

TEST(TunePlan, json_says_what_would_change_its_run) {
  const TunePlan plan =
      plan_of(toml("seed = 9007199254740993\ntrials = 2\n"
                   "objectives = [\"memory\", \"latency\"]\n"
                   "[measure]\nrounds = 5\nrepeat_budget_s = 7\n"));
  const Json json = plan.json();
  EXPECT_THAT(json,
              halmark::test::HasValues(R"({"/plan": 2, "/seed": "9007199254740993", "/trials": 2,
      "/rounds": 5, "/repeat_budget_s": 7, "/problems/0/configurations": 3,
      "/kernels/of": "everything"})"));
  EXPECT_EQ(json.at("objectives"), Json({"memory", "latency"}));
  EXPECT_EQ(json.at("problems").size(), 1u);
  EXPECT_EQ(json.at("kernels").at("count"), plan.forecast().kernels.size());
  EXPECT_FALSE(json.contains("routing_skew")) << "a dense model";
  EXPECT_EQ(Json::parse(plan.text()), json);
}

TEST(TunePlan, its_hash_follows_from_sweep_and_kernels) {
  const std::string same = plan_of(toml("")).hash();
  EXPECT_EQ(plan_of(toml("")).hash(), same);
  EXPECT_NE(plan_of(toml("seed = 2\n")).hash(), same);
  EXPECT_NE(plan_of(toml("[measure]\nrounds = 2\n")).hash(), same);
  EXPECT_NE(plan_of(toml("[measure]\nsample_budget_s = 0.5\n")).hash(), same);
  Target with_winner = two_cores();
  const TunePlan plain = plan_of(toml(""));
  Winner winner{.question = plain.forecast().kernels.front()};
  winner.chosen = {.kernel = "other_kernel"};
  with_winner.winners.add(winner);
  const TunePlan won = plan_of(toml(""), with_winner);
  EXPECT_NE(won.hash(), same) << "another way of running one kernel";
  EXPECT_EQ(plain.kernels_with_winner(), 0u);
  EXPECT_EQ(won.kernels_with_winner(), 1u);
}

TEST(TunePlan, what_does_not_fit_is_left_out_with_its_reason) {
  const std::string text =
      toml("", "[[workload]]\nphase = \"decode\"\nbatch = [1, 65536]\ncontext = 256\n");
  const TunePlan plan = plan_of(text);
  ASSERT_EQ(plan.left_out().size(), 1u);
  EXPECT_THAT(plan.left_out()[0], has_all({"b65536", ": "}));
  const Error error = error_of([&] {
    plan_of(toml("", "[[workload]]\nphase = \"decode\"\nbatch = [65536]\ncontext = 256\n"));
  });
  EXPECT_EQ(error.exit_code(), ExitCode::gate_failed) << "as a search by prices ends";
  EXPECT_THAT(error.line(), has_all({"no configuration of this sweep is possible here", "b65536"}));
}

// auto covers a small space as a grid: it has to be told that the budget is the whole space.
std::unique_ptr<TunePlan> standing_plan(const std::string& more) {
  return measured_plan(parse_sweep(toml(more) + "[measure]\nin_stack = true\n", "s.toml"),
                       two_cores(), false, {halmark::test::in_source("/tests/data")}, {});
}

TEST(TunePlan, kernels_of_layers_stand_in_stacks_that_it_knows) {
  const auto plan = standing_plan("");
  int standing = 0, loops = 0;
  for (const KernelCase& k : plan->forecast().kernels) {
    const auto stacks = plan->composers().stacks_of(k);
    if (k.mode != CacheMode::in_stack) {
      ++loops;
      EXPECT_TRUE(stacks.empty()) << k.key();
      continue;
    }
    ++standing;
    ASSERT_EQ(stacks.size(), 1U) << k.key();
    EXPECT_NE(std::ranges::find(stacks[0].kernels, k), stacks[0].kernels.end()) << k.key();
  }
  EXPECT_GT(standing, 3 * 8) << "those of the layers, at three batches";
  EXPECT_GE(loops, 3 * 2) << "embedding and head";
  const auto in_loops = plan_of(toml(""));
  EXPECT_NE(plan->hash(), in_loops.hash());
}

TEST(TunePlan, what_is_certified_is_measured_in_loops) {
  const auto plan = standing_plan("sampler = \"certify\"\n");
  ASSERT_FALSE(plan->forecast().kernels.empty());
  for (const KernelCase& k : plan->forecast().kernels) {
    EXPECT_EQ(k.mode, CacheMode::rotate_const) << k.key();
  }
}

// What is asked of variants does not depend on where a kernel stands.
TEST(TunePlan, questions_about_variants_are_those_of_loops) {
  const TunePlan in_loops = plan_of(toml(""));
  std::set<std::string> asked, expected;
  for (const KernelCase& k : variant_questions(*standing_plan(""), "")) asked.insert(winner_key(k));
  for (const KernelCase& k : variant_questions(in_loops, "")) expected.insert(winner_key(k));
  EXPECT_EQ(asked, expected);
}

TEST(SamplerFor, is_told_the_space_where_everything_is_covered) {
  const std::string small = toml("sampler = \"auto\"\n");
  const TunePlan covered = plan_of(small);
  const TuneProblem& problem = covered.problems().front();
  const auto grid = make_sampler("grid", problem.space(), 1);
  EXPECT_EQ(sampler_for(covered, problem)->ask(3), grid->ask(3));
  const TunePlan certified = plan_of(toml("sampler = \"certify\"\n"));
  EXPECT_EQ(sampler_for(certified, certified.problems().front())->name(), "grid");
  EXPECT_EQ(sampler_for(plan_of(toml("sampler = \"tpe\"\n")), problem)->name(), "tpe");
}

TEST(Forecast, of_a_small_space_is_whole_and_of_a_large_one_its_first_batch) {
  const auto batches = [](int n) {
    std::string out;
    for (int i = 1; i <= n; ++i) out += (i > 1 ? ", " : "") + std::to_string(i);
    return "sampler = \"random\"\n[[workload]]\nphase = \"decode\"\ncontext = 128\nbatch = [" +
           out + "]\n";
  };
  const TunePlan whole = plan_of(toml(batches(64), " "));
  EXPECT_TRUE(whole.forecast().is_whole);
  EXPECT_EQ(whole.forecast().configurations.size(), 64u);
  std::string contexts;
  for (int i = 1; i <= 65; ++i) {
    contexts += "[[workload]]\nphase = \"decode\"\ncontext = " + std::to_string(i) + "\nbatch = [";
    for (int b = 1; b <= (i == 65 ? 1 : 64); ++b)
      contexts += (b > 1 ? ", " : "") + std::to_string(b);
    contexts += "]\n";
  }
  const TunePlan large = plan_of(toml("sampler = \"random\"\n", contexts));
  EXPECT_EQ(large.configurations(), 4097u);
  EXPECT_FALSE(large.forecast().is_whole);
  EXPECT_EQ(large.forecast().configurations.size(), 8u);
  EXPECT_FALSE(large.covers_everything());
  EXPECT_EQ(large.json().at("kernels").at("of"), "the first batch");
}

TEST(Forecast, seconds_are_those_of_all_kernels_once) {
  const TunePlan plan = plan_of(toml("[measure]\nrounds = 4\n"));
  const CampaignCost cost =
      predict_cost(plan.forecast().kernels, 4, sample_rule(plan.sweep().measure), nullptr, 2);
  EXPECT_DOUBLE_EQ(plan.forecast().seconds, cost.seconds);
}

// What is left out is a whole batch of a phase, the rest is in budget, and its points are gone from
// the space.
TEST(Trimming, leaves_out_whole_workloads_until_the_rest_fits) {
  const std::string prefill =
      "[[workload]]\nphase = \"prefill\"\nbatch = [1, 2, 8]\nnew_tokens = 128\n"
      "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n";
  const double all = plan_of(toml("", prefill)).forecast().seconds;
  for (const double share : {0.9, 0.7, 0.5}) {
    const double budget_s = all * share;
    const TunePlan plan = plan_of(toml("budget_s = " + std::to_string(budget_s) + "\n", prefill));
    EXPECT_LE(plan.forecast().seconds, budget_s * 1.0001) << share;
    EXPECT_TRUE(plan.covers_everything());
    const std::size_t left_out = plan.left_out().size();
    ASSERT_GT(left_out, 0u);
    EXPECT_EQ(plan.configurations(), 6 - left_out);
    for (const std::string& line : plan.left_out()) {
      const bool is_decode = line.starts_with("decode batch ");
      EXPECT_TRUE(is_decode || line.starts_with("prefill batch ")) << line;
      EXPECT_THAT(line, HasSubstr(" f32: would take "));
      const std::int64_t batch = std::stoll(line.substr(line.find("batch ") + 6));
      for (const TuneProblem& problem : plan.problems()) {
        if (problem.name() != (is_decode ? "decode" : "prefill")) continue;
        for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
          EXPECT_NE(problem.at(problem.space().point(i)).workload.batch, batch) << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace halmark::tune
