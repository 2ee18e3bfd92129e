// Spaces of sweeps against the plainest enumeration there is: nested loops over everything that a
// sweep names, with the checks of the model asked for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "plan/sweep.hpp"
#include "tests/checkout.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::tune {
namespace {

using Keys = std::set<std::string>;

ModelSpec model_of(const std::string& id) {
  return load_model(id, {halmark::test::in_source("/configs/models")});
}

bool wants(const Sweep& sweep, const char* strategy) {
  return contains(sweep.strategies, strategy);
}

// Every layout of one of these numbers of devices, possible or not.
std::vector<Parallel> layouts(const Sweep& sweep, const ModelSpec& spec,
                              const std::vector<std::int64_t>& shards) {
  std::vector<Parallel> out;
  const auto most = static_cast<int>(*std::ranges::max_element(shards));
  for (int dp = 1; dp <= (wants(sweep, "data") ? most : 1); ++dp) {
    for (int tp = 1; tp <= (wants(sweep, "tensor") ? most : 1); ++tp) {
      for (int pp = 1; pp <= (wants(sweep, "pipeline") ? most : 1); ++pp) {
        for (int cp = 1; cp <= (wants(sweep, "context") ? most : 1); ++cp) {
          if (!contains(shards, std::int64_t{dp} * tp * pp * cp)) continue;
          for (int ep = 1; ep <= (wants(sweep, "expert") && spec.moe ? most : 1); ++ep) {
            out.push_back({.dp = dp, .tp = tp, .pp = pp, .ep = ep, .cp = cp});
          }
        }
      }
    }
  }
  return out;
}

Keys steps_by_loops(const Sweep& sweep, const ModelSpec& spec,
                    const std::vector<std::int64_t>& shards, const PrecisionFacts& facts) {
  Keys out;
  for (const Parallel& parallel : layouts(sweep, spec, shards)) {
    for (const SweepWorkload& w : sweep.workloads) {
      for (const Precision& precision : precisions_of(sweep, w, facts)) {
        for (const std::int64_t batch : w.batches) {
          Configuration c{.model = spec.id, .parallel = parallel, .precision = precision};
          c.workload = {w.phase, batch, w.new_tokens, w.context, sweep.routing_skew};
          // Idle stages have a price, and are not measured.
          if (sweep.latency.empty() && batch < parallel.dp * parallel.pp) continue;
          if (!check_configuration(spec, c)) out.insert(c.key());
        }
      }
    }
  }
  return out;
}

// Of the layout alone: the least load that it can take.
bool is_possible(const ModelSpec& spec, const Parallel& parallel, const Precision& precision) {
  Configuration c{.model = spec.id, .parallel = parallel, .precision = precision};
  c.workload.batch = std::int64_t{parallel.dp} * parallel.pp;
  return !check_configuration(spec, c);
}

std::vector<Parallel> workers(const Sweep& sweep, const ModelSpec& spec, std::int64_t devices,
                              const Precision& precision) {
  std::vector<Parallel> out;
  const auto n = static_cast<int>(devices);
  if (n > 1 && !wants(sweep, "tensor")) return out;
  for (const int ep : std::set<int>{1, n}) {
    if (ep > 1 && !(spec.moe && wants(sweep, "expert"))) continue;
    const Parallel parallel{.tp = n, .ep = ep};
    if (is_possible(spec, parallel, precision)) out.push_back(parallel);
  }
  return out;
}

class ServedLoops {
 public:
  ServedLoops(const Sweep& sweep, const ModelSpec& spec, const PrecisionFacts& facts)
      : sweep_(sweep), spec_(spec), facts_(facts) {}

  Keys run() {
    for (const Precision& precision : precisions_of(sweep_, facts_)) {
      for (const ServingMode mode : sweep_.served->modes) {
        mode == ServingMode::aggregated ? add_replicas(precision) : add_workers(precision);
      }
    }
    return std::move(out_);
  }

 private:
  void add(Configuration c, std::int64_t parts) {
    for (const std::int64_t concurrency : sweep_.served->concurrency) {
      if (concurrency % parts != 0) continue;
      for (const std::int64_t budget : sweep_.served->token_budgets) {
        c.served->concurrency = concurrency;
        c.served->token_budget = budget;
        out_.insert(c.key());
      }
    }
  }

  Configuration base(const Precision& precision, ServingMode mode) const {
    Configuration c{.model = spec_.id, .precision = precision};
    c.workload.routing_skew = sweep_.routing_skew;
    c.served = ServedLoad{.request = sweep_.served->request, .mode = mode};
    return c;
  }

  void add_replicas(const Precision& precision) {
    for (const Parallel& parallel : layouts(sweep_, spec_, sweep_.shards)) {
      if (!is_possible(spec_, parallel, precision)) continue;
      Configuration c = base(precision, ServingMode::aggregated);
      c.parallel = parallel;
      add(c, std::int64_t{parallel.dp} * parallel.pp);
    }
  }

  void add_workers(const Precision& precision) {
    for (const std::int64_t devices : sweep_.shards) {
      for (std::int64_t of_prefill = 1; of_prefill < devices; ++of_prefill) {
        for (std::int64_t one = 1; one <= of_prefill; ++one) {
          for (std::int64_t other = 1; other <= devices - of_prefill; ++other) {
            if (of_prefill % one != 0 || (devices - of_prefill) % other != 0) continue;
            add_split(precision, of_prefill / one, one, (devices - of_prefill) / other, other);
          }
        }
      }
    }
  }

  void add_split(const Precision& precision, std::int64_t prefill_workers, std::int64_t prefill,
                 std::int64_t decode_workers, std::int64_t decode) {
    for (const Parallel& p : workers(sweep_, spec_, prefill, precision)) {
      for (const Parallel& d : workers(sweep_, spec_, decode, precision)) {
        Configuration c = base(precision, ServingMode::disaggregated);
        c.parallel = d;
        c.served->prefill = p;
        c.served->prefill_workers = static_cast<int>(prefill_workers);
        c.served->decode_workers = static_cast<int>(decode_workers);
        add(c, 1);
      }
    }
  }

  const Sweep& sweep_;
  const ModelSpec& spec_;
  const PrecisionFacts& facts_;
  Keys out_;
};

Keys keys_of(const std::vector<TuneProblem>& problems) {
  Keys out;
  for (const TuneProblem& problem : problems) {
    for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
      const bool is_new = out.insert(problem.at(problem.space().point(i)).key()).second;
      EXPECT_TRUE(is_new) << "two points are one configuration";
    }
  }
  return out;
}

void expect_same(const Keys& found, const Keys& expected) {
  EXPECT_EQ(found.size(), expected.size());
  Keys missing, extra;
  std::ranges::set_difference(expected, found, std::inserter(missing, missing.end()));
  std::ranges::set_difference(found, expected, std::inserter(extra, extra.end()));
  EXPECT_TRUE(missing.empty()) << missing.size() << " missing, the first: " << *missing.begin();
  EXPECT_TRUE(extra.empty()) << extra.size() << " too many, the first: " << *extra.begin();
}

class ShippedSweep : public testing::TestWithParam<const char*> {};

TEST_P(ShippedSweep, has_the_configurations_that_nested_loops_find) {
  const std::string name = GetParam();
  const Sweep sweep = read_sweep(halmark::test::in_source("/configs/sweeps/") + name + ".toml");
  const ModelSpec spec = model_of(sweep.model);
  const PrecisionFacts facts;
  for (const std::int64_t cores : {2, 6}) {
    std::vector<std::int64_t> shards = sweep.shards;
    for (std::int64_t n = 1; sweep.shards.empty() && n <= cores; ++n) shards.push_back(n);
    const std::vector<TuneProblem> problems = problems_of(sweep, spec, shards, facts);
    const Keys expected = sweep.served ? ServedLoops(sweep, spec, facts).run()
                                       : steps_by_loops(sweep, spec, shards, facts);
    EXPECT_GT(expected.size(), 4u);
    expect_same(keys_of(problems), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSweep,
                         testing::Values("quickstart", "certify", "full", "moe", "serve-235b"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Experts of 24 columns: three ranks and eight cut each of them, sixteen cannot, and sixteen may
// hold whole ones. So which degree of tensor parallelism is possible hangs on that of the experts.
TEST(TuneProblem, workers_whose_experts_are_cut_are_told_from_those_that_hold_them_whole) {
  const ModelSpec spec = read_model(
      R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 64,
          "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 16,
          "moe_intermediate_size": 24, "num_experts": 16, "num_experts_per_tok": 2,
          "vocab_size": 512, "intermediate_size": 96, "decoder_sparse_step": 1,
          "max_position_embeddings": 512, "norm_topk_prob": true, "tie_word_embeddings": false})",
      "tiny.json");
  const Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"tiny\"\nshards = [2, 9, 17, 32]\ndtypes = [\"bf16\"]\n"
      "strategies = [\"tensor\", \"expert\"]\n[request]\ninput_tokens = 64\noutput_tokens = 8\n"
      "modes = [\"aggregated\", \"disaggregated\"]\nconcurrency = [4]\ntoken_budget = [64]\n",
      "s.toml");
  const PrecisionFacts facts;
  const Keys expected = ServedLoops(sweep, spec, facts).run();
  expect_same(keys_of(problems_of(sweep, spec, sweep.shards, facts)), expected);
  std::set<std::pair<int, int>> workers;
  const TuneProblem problem = problems_of(sweep, spec, sweep.shards, facts).front();
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    const Configuration c = problem.at(problem.space().point(i));
    if (c.served->mode == ServingMode::disaggregated)
      workers.insert({c.parallel.tp, c.parallel.ep});
  }
  EXPECT_TRUE(workers.contains({8, 1}));
  EXPECT_TRUE(workers.contains({8, 8}));
  EXPECT_TRUE(workers.contains({16, 16}));
  EXPECT_FALSE(workers.contains({16, 1}));
}

Sweep steps(const std::string& more, const std::string& model = "qwen3-0.6b") {
  return parse_sweep(
      "name = \"s\"\nmodel = \"" + model + "\"\ndtypes = [\"bf16\", \"int8\"]\n" + more, "s.toml");
}

TEST(TuneProblem, workloads_of_one_phase_are_one_space_with_their_union_as_a_constraint) {
  const Sweep sweep = steps(
      "strategies = [\"data\"]\n"
      "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n"
      "[[workload]]\nphase = \"decode\"\nbatch = [4, 8]\ncontext = 256\ndtypes = [\"int8\"]\n"
      "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 64\n");
  const ModelSpec spec = model_of(sweep.model);
  const std::vector<std::int64_t> one = {1};
  const std::vector<TuneProblem> problems = problems_of(sweep, spec, one, {});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].name(), "decode");
  EXPECT_EQ(problems[0].space().size(), 3u * 2 + 2);
  EXPECT_EQ(problems[1].name(), "prefill");
  EXPECT_EQ(problems[1].space().size(), 2u);
}

TEST(TuneProblem, context_parallelism_is_possible_where_it_cuts_the_sequence) {
  const Sweep sweep = steps(
      "strategies = [\"context\", \"tensor\"]\n"
      "[[workload]]\nphase = \"prefill\"\nbatch = [1, 2]\nnew_tokens = 128\n"
      "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 12\n"
      "[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 128\n");
  const ModelSpec spec = model_of(sweep.model);
  const std::vector<std::int64_t> shards = {1, 2, 4};
  const Keys found = keys_of(problems_of(sweep, spec, shards, {}));
  expect_same(found, steps_by_loops(sweep, spec, shards, {}));
  const auto split = std::ranges::count_if(
      found, [](const std::string& key) { return key.find("cp2") != std::string::npos; });
  EXPECT_GT(split, 0) << *found.begin();
}

TEST(TuneProblem, a_dtype_per_kind_is_a_parameter_of_its_own) {
  const Sweep sweep = steps(
      "strategies = [\"data\"]\n[precision]\nkv_cache = [\"bf16\", \"f8_e4m3fn\"]\n"
      "[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 128\n");
  const ModelSpec spec = model_of(sweep.model);
  const std::vector<std::int64_t> one = {1};
  const TuneProblem problem = problems_of(sweep, spec, one, {}).front();
  Keys names;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    names.insert(problem.at(problem.space().point(i)).precision.name);
  }
  EXPECT_TRUE(names.contains("bf16"));
  EXPECT_TRUE(names.contains("bf16+kv_cache=f8_e4m3fn"));
  EXPECT_EQ(names.size(), 4u);
}

TEST(TuneProblem, what_no_precision_or_layout_allows_is_refused_with_its_reason) {
  const ModelSpec spec = model_of("qwen3-0.6b");
  const std::vector<std::int64_t> seven = {7};
  const Sweep sweep = steps(
      "strategies = [\"tensor\"]\n[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 128\n");
  try {
    problems_of(sweep, spec, seven, {});
    FAIL() << "16 heads were split over 7 shards";
  } catch (const Error& e) {
    EXPECT_NE(e.line().find("tp_does_not_divide_heads"), std::string::npos) << e.line();
  }
}

TEST(TuneProblem, a_constraint_more_leaves_the_rest_as_it_was) {
  const Sweep sweep = steps("[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n");
  const ModelSpec spec = model_of(sweep.model);
  const std::vector<std::int64_t> two = {1, 2};
  const TuneProblem problem = problems_of(sweep, spec, two, {}).front();
  const TuneProblem less = problem.with({{"small", "batch <= 2", {}}});
  EXPECT_LT(less.space().size(), problem.space().size());
  for (std::uint64_t i = 0; i < less.space().size(); ++i) {
    EXPECT_LE(less.at(less.space().point(i)).workload.batch, 2);
  }
  EXPECT_NE(less.hash(), problem.hash());
}

TEST(TuneProblem, a_space_of_a_billion_points_is_counted_without_a_list) {
  std::string numbers, budgets;
  for (int i = 1; i <= 512; ++i) numbers += (i > 1 ? ", " : "") + std::to_string(8 * i);
  for (int i = 1; i <= 1024; ++i) budgets += (i > 1 ? ", " : "") + std::to_string(32 * i);
  const Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"qwen3-235b-a22b\"\nshards = [8, 16, 32, 64]\n"
      "dtypes = [\"bf16\", \"fp8\"]\n[request]\ninput_tokens = 4096\noutput_tokens = 512\n"
      "modes = [\"aggregated\", \"disaggregated\"]\nconcurrency = [" +
          numbers + "]\ntoken_budget = [" + budgets + "]\n",
      "s.toml");
  const ModelSpec spec = model_of(sweep.model);
  const TuneProblem problem = problems_of(sweep, spec, sweep.shards, {}).front();
  EXPECT_GE(problem.space().size(), 1'000'000'000u);
  const auto point = problem.space().draw(7);
  ASSERT_TRUE(point);
  EXPECT_TRUE(problem.at(*point).served);
}

}  // namespace
}  // namespace halmark::tune
