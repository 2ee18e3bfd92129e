// Where kernels stand, read off the whole stacks that the configuration executes.
#include "core/numeric/cast.hpp"
#include "model/pricing/layout/places.hpp"

#include <array>

#include "fixtures.hpp"
#include "model/pricing/composer.hpp"

namespace halmark {
namespace {

using namespace model_test;

using Neighbours = std::array<std::string, 4>;

StackPlacement placement(CacheMode mode) {
  return {.backend = "cpu", .ring_bytes = std::int64_t{64} << 20, .mode = mode};
}

// By operator: how often it stands between which problems.
std::map<std::string, std::map<Neighbours, int>> places_in(const Stack& stack) {
  std::map<std::string, std::map<Neighbours, int>> out;
  const auto text = [&](std::size_t i) {
    if (i >= stack.steps.size()) return std::string();
    return stack.kernels[as_size(stack.steps[i].kernel)].problem.text();
  };
  for (std::size_t i = 0; i < stack.steps.size(); ++i) {
    const Neighbours around{text(i - 3), text(i - 2), text(i - 1), text(i + 1)};
    ++out[stack.steps[i].layer_type + "." + stack.steps[i].operator_name][around];
  }
  return out;
}

int executions(const std::map<Neighbours, int>& seen) {
  int out = 0;
  for (const auto& [around, times] : seen) out += times;
  return out;
}

struct Case {
  const char* model;
  Parallel parallel;
  std::int64_t batch;
};

const Case cases[] = {{"qwen3-0.6b", {}, 1},
                      {"qwen3-0.6b", {.tp = 2, .pp = 2}, 4},
                      {"gemma-3-27b", {}, 2},
                      {"deepseek-v3", {}, 1},
                      {"qwen3-30b-a3b", {.dp = 2, .ep = 2}, 4}};

TEST(ShortStacks, keep_every_operator_in_a_place_that_is_its_most_frequent_one) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.model);
    const OperatorGraph graph = graph_of(c.model, decode(c.batch, 64, c.parallel));
    const auto whole = build_stacks(graph, placement(CacheMode::rotate_const));
    const auto in_short = build_short_stacks(graph, placement(CacheMode::rotate_const));
    ASSERT_EQ(whole.size(), in_short.size());
    for (std::size_t rank = 0; rank < whole.size(); ++rank) {
      EXPECT_LE(in_short[rank].steps.size(), whole[rank].steps.size());
      const auto places = places_in(whole[rank]), kept = places_in(in_short[rank]);
      for (const auto& [name, seen] : places) {
        int most = 0;
        for (const auto& [around, times] : seen) most = std::max(most, times);
        if (executions(seen) < 2 * graph.micro_batches()) continue;
        const bool stands_so = std::ranges::any_of(kept.at(name), [&](const auto& k) {
          const auto known = seen.find(k.first);
          return known != seen.end() && known->second == most;
        });
        EXPECT_TRUE(stands_so) << name;
      }
    }
  }
}

// What the Composer asks for is what the short stacks execute, on the ranks together.
TEST(ShortStacks, hold_every_kernel_that_the_step_is_composed_of) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.model);
    const OperatorGraph graph = graph_of(c.model, decode(c.batch, 64, c.parallel));
    std::set<KernelCase> held;
    for (const Stack& stack : build_short_stacks(graph, placement(CacheMode::in_stack))) {
      EXPECT_EQ(stack.kernels.size(), stack.instances.size());
      std::set<std::int32_t> executed;
      for (const StackStep& step : stack.steps) executed.insert(step.kernel);
      EXPECT_EQ(executed.size(), stack.kernels.size()) << "each is executed";
      held.insert(stack.kernels.begin(), stack.kernels.end());
    }
    const Composer composer(graph, placement(CacheMode::in_stack), {});
    for (const KernelCase& k : composer.kernels()) {
      if (k.mode != CacheMode::in_stack) continue;
      EXPECT_TRUE(held.contains(k)) << k.key();
      EXPECT_EQ(k.neighbours.size(), 12U);
    }
  }
}

std::string neighbours_of(const OperatorGraph& graph, const char* name) {
  const auto all = usual_neighbours(graph, 0);
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    if (graph.operators[op].name == name) return all[op];
  }
  return "no such operator";
}

TEST(Places, operators_of_one_problem_stand_in_places_of_their_own) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8));
  const auto of = [&](const char* name) { return neighbours_of(graph, name); };
  EXPECT_NE(of("input_norm"), of("post_norm"));
  EXPECT_NE(of("q_proj"), of("kv_proj"));
  // Another context is another attention, which stands three before the residual's norm.
  const OperatorGraph deeper = graph_of(tiny(), decode(2, 16));
  for (const auto& [name, is_equal] : {std::pair{"attention", true},
                                       {"o_proj", false},
                                       {"post_norm", false},
                                       {"gate_up_proj", true}}) {
    EXPECT_EQ(of(name) == neighbours_of(deeper, name), is_equal) << name;
  }
}

// q and kv are one kernel in loops of their own, and two where they stand.
TEST(Places, a_stack_has_a_kernel_per_place) {
  const OperatorGraph graph = graph_of(tiny(), decode(2, 8));
  const auto loops = build_stacks(graph, placement(CacheMode::rotate_const)).front();
  const auto places = build_stacks(graph, placement(CacheMode::in_stack)).front();
  EXPECT_GT(places.kernels.size(), loops.kernels.size());
  EXPECT_EQ(places.steps.size(), loops.steps.size());
  std::int64_t in_loops = 0, in_places = 0;
  for (const auto n : loops.instances) in_loops += n;
  for (const auto n : places.instances) in_places += n;
  EXPECT_EQ(in_loops, in_places);
}

// Two layers have every place of a uniform stack between them; a layer of another kind is one more.
TEST(Places, a_short_sequence_has_no_more_layers_than_the_places_need) {
  const auto layers = [](const char* model) {
    return short_sequence(graph_of(model, decode(1, 4096)), 0).size();
  };
  EXPECT_EQ(layers("qwen3-0.6b"), 2U);
  EXPECT_EQ(layers("llama-3.1-70b"), 2U);
  EXPECT_EQ(layers("gemma-3-27b"), 3U) << "of a window, of the whole context, of a window";
}

TEST(Places, what_a_stage_executes_once_is_measured_in_a_loop) {
  const OperatorGraph graph = graph_of("qwen3-0.6b", decode(1, 64));
  for (const char* once : {"embedding", "final_norm", "lm_head"}) {
    EXPECT_EQ(neighbours_of(graph, once), "") << once;
  }
  const Composer composer(graph, placement(CacheMode::in_stack), {});
  for (const KernelCase& k : composer.kernels()) {
    EXPECT_EQ(k.mode == CacheMode::in_stack, !k.neighbours.empty()) << k.key();
  }
  EXPECT_EQ(std::ranges::count(composer.kernels(), CacheMode::rotate_const, &KernelCase::mode), 3);
}

// Fewer argument sets than a loop of its own: the other kernels move most of the ring.
TEST(Places, short_stacks_hold_as_many_sets_as_keep_constants_cold) {
  const OperatorGraph graph = graph_of("llama-3.1-8b", decode(1, 64));
  const Stack whole = build_stacks(graph, placement(CacheMode::in_stack)).front();
  const Stack kept = build_short_stacks(graph, placement(CacheMode::in_stack)).front();
  double layers_bytes = 0;
  for (std::size_t k = 0; k < kept.kernels.size(); ++k) {
    const Problem& problem = kept.kernels[k].problem;
    layers_bytes +=
        32 * find_contract(problem.op)->work(complete_problem(problem).params).constant_bytes;
  }
  for (std::size_t k = 0; k < kept.kernels.size(); ++k) {
    EXPECT_LE(kept.instances[k], kept.kernels[k].sets);
    // The bytes of all layers pass once for 32 uses.
    EXPECT_GE(as_double(kept.instances[k]) * layers_bytes / 32,
              std::min<double>(64 << 20, layers_bytes) * 0.999);
    EXPECT_EQ(kept.instances[k], 1) << "a layer of 400 MB is more than the ring";
  }
  EXPECT_GT(whole.kernels.size(), kept.kernels.size());
}

}  // namespace
}  // namespace halmark
