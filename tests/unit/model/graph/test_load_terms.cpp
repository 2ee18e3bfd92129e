// Operators moved to another load against graphs that are built for it: every shipped model, in the
// layouts and precisions that it allows, around the lengths where windows, chunks, compressed
// entries and blocks of tokens begin to matter.

#include "fixtures.hpp"
#include "model/graph/sizing.hpp"

namespace halmark {
namespace {

using namespace model_test;

// A layout in which loads are compared.
struct Case {
  Parallel parallel;
  int cp = 1;
  std::int64_t drafted = 0, skew = 0, delta_chunk = 0;
};

std::vector<Case> cases(const ModelSpec& spec) {
  std::vector<Case> out = {{}, {.parallel = {.dp = 2, .tp = 2, .pp = 2}}, {.parallel = {.tp = 8}}};
  if (spec.moe) {
    out.push_back({.parallel = {.tp = 4, .ep = 2}});
    out.push_back({.parallel = {.dp = 4, .tp = 2, .ep = 8}, .skew = 60});
  }
  out.push_back({.parallel = {.tp = 2}, .cp = 4});
  if (spec.prediction_modules > 0) out.push_back({.drafted = 2});
  if (spec.delta_rule) out.push_back({.delta_chunk = 64});
  return out;
}

Result<OperatorGraph, Refusal> built(const ModelSpec& spec, const Case& of,
                                     const Precision& precision, Phase phase,
                                     const RankLoad& load) {
  Parallel parallel = of.parallel;
  parallel.cp = of.cp;
  const Configuration configuration{spec.id,
                                    parallel,
                                    precision,
                                    {.phase = phase,
                                     .batch = load.sequences * of.parallel.dp * of.parallel.pp,
                                     .new_tokens = load.new_tokens,
                                     .context = load.context,
                                     .routing_skew = of.skew}};
  if (of.drafted > 0) return build_graph(spec, configuration, Speculation{of.drafted});
  StepForm form;
  form.delta_chunk = of.delta_chunk;
  return build_graph(spec, configuration, form);
}

// Half of the loads are within one token of a limit, on either side of it.
RankLoad random_load(const Case& of, Phase phase, const std::vector<std::int64_t>& limits,
                     std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
  RankLoad out{.sequences = 1 + below(20)};
  std::int64_t length = 1 + below(5000);
  if (below(2) == 0) length = limits[random() % limits.size()] + below(3) - 1;
  length = std::max<std::int64_t>(1 + of.drafted, length);
  if (phase == Phase::decode) {
    out.context = length;
  } else {
    const std::int64_t blocks = 2 * of.cp;
    out.new_tokens = blocks * (1 + below(300));
    std::int64_t cached = below(2) == 0 ? 0 : length;
    if (below(4) == 0) out.new_tokens = (length + blocks - 1) / blocks * blocks;
    out.context = out.new_tokens + cached / of.cp * of.cp;
  }
  return out;
}

// That of a graph's own; where drafts are verified, more queries than the configuration says.
RankLoad load_of(const OperatorGraph& graph) {
  const Workload& w = graph.configuration.workload;
  return {graph.micro_batch(), w.new_tokens, w.context};
}

void expect_same_operators(const OperatorGraph& moved, const OperatorGraph& direct,
                           const std::string& where) {
  const RankLoad load = load_of(direct);
  ASSERT_EQ(moved.operators.size(), direct.operators.size()) << where;
  for (std::size_t i = 0; i < moved.operators.size(); ++i) {
    const Operator &from = moved.operators[i], &to = direct.operators[i];
    ASSERT_EQ(from.layer_type + ' ' + from.name, to.layer_type + ' ' + to.name) << where;
    ASSERT_EQ(local_problem(from, load).text(), to.local.text())
        << where << ' ' << from.name << ", moved from " << from.local.text();
  }
}

bool agrees(const OperatorGraph& graph, const RankLoad& load) {
  return std::ranges::all_of(graph.branches, [&](const LoadBranch& branch) {
    return (branch.size->at(load) > 0) == branch.is_any;
  });
}

class LoadTerms : public testing::TestWithParam<std::string> {};

TEST_P(LoadTerms, give_the_problems_of_the_graph_that_is_built_for_the_load) {
  const ModelSpec spec = shipped(GetParam());
  std::mt19937_64 random(7);
  std::size_t compared = 0;
  for (const Case& of : cases(spec)) {
    for (const Precision& precision : precisions(spec)) {
      for (const Phase phase : {Phase::decode, Phase::prefill}) {
        std::vector<OperatorGraph> graphs;  // one for each set of branches met so far
        for (int i = 0; i < 6; ++i) {
          const RankLoad load = random_load(of, phase, length_limits(spec), random);
          auto direct = built(spec, of, precision, phase, load);
          auto* graph = direct.get();
          if (graph == nullptr) continue;
          const std::string where = spec.id + ' ' + graph->configuration.key();
          const auto known = std::ranges::find_if(
              graphs, [&](const OperatorGraph& g) { return agrees(g, load_of(*graph)); });
          if (known == graphs.end()) {
            graphs.push_back(std::move(*graph));
            continue;
          }
          expect_same_operators(*known, *graph, where);
          if (HasFatalFailure()) return;
          ++compared;
        }
      }
    }
  }
  EXPECT_GE(compared, 8u);
}

INSTANTIATE_TEST_SUITE_P(Shipped, LoadTerms, testing::ValuesIn(shipped_ids()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace halmark
