// The choice of strategies along a chain of layers against all choices there are.
// Cuts of a pipeline against all cuts there are, over devices and links that differ.

#include "core/numeric/cast.hpp"
#include "simulate/sharding/layer_choice.hpp"
#include "simulate/sharding/stage_choice.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

LayerChain random_chain(std::mt19937& engine) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  const std::size_t layers = 1 + as_size(below(6));
  const std::size_t strategies = 1 + as_size(below(4));
  LayerChain out{.layers = {}, .reshard_ns = {}, .bytes_max = std::nullopt};
  for (std::size_t l = 0; l < layers; ++l) {
    std::vector<std::optional<LayerCost>> costs;
    for (std::size_t s = 0; s < strategies; ++s) {
      if (below(8) == 0) {
        costs.emplace_back();
      } else {
        costs.push_back(LayerCost{.ns = as_double(1 + below(20)), .bytes = 1 + below(9)});
      }
    }
    out.layers.push_back(std::move(costs));
  }
  for (std::size_t a = 0; a < strategies; ++a) {
    out.reshard_ns.emplace_back();
    for (std::size_t b = 0; b < strategies; ++b) {
      out.reshard_ns.back().push_back(a == b ? 0 : as_double(below(10)));
    }
  }
  if (below(3) != 0) out.bytes_max = static_cast<std::int64_t>(layers) * (1 + below(8));
  return out;
}

// All choices, one after the other.
std::optional<ChosenLayers> exhaustive(const LayerChain& chain) {
  const std::size_t strategies = chain.reshard_ns.size();
  std::vector<std::size_t> choice(chain.layers.size(), 0);
  std::optional<ChosenLayers> best;
  for (bool is_over = false; !is_over;) {
    ChosenLayers made{.strategies = choice, .ns = 0, .bytes = 0};
    bool is_possible = true;
    for (std::size_t l = 0; l < choice.size() && is_possible; ++l) {
      const auto& cost = chain.layers[l][choice[l]];
      is_possible = cost.has_value();
      if (!cost) break;
      made.ns += cost->ns + (l > 0 ? chain.reshard_ns[choice[l - 1]][choice[l]] : 0);
      made.bytes += cost->bytes;
    }
    is_possible = is_possible && (!chain.bytes_max || made.bytes <= *chain.bytes_max);
    const bool is_better =
        !best || made.ns < best->ns || (made.ns == best->ns && made.bytes < best->bytes);
    if (is_possible && is_better) best = made;
    std::size_t at = 0;
    while (at < choice.size() && ++choice[at] == strategies) choice[at++] = 0;
    is_over = at == choice.size();
  }
  return best;
}

TEST(LayerChoice, equals_exhaustive_enumeration_over_random_costs_and_memories) {
  std::mt19937 engine(7);
  int possible = 0, impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    const LayerChain chain = random_chain(engine);
    const auto expected = exhaustive(chain);
    const auto found = choose_layers(chain);
    ASSERT_EQ(found.has_value(), expected.has_value()) << round;
    ++(found ? possible : impossible);
    if (!found) continue;
    EXPECT_EQ(found->ns, expected->ns) << round;
    EXPECT_EQ(found->bytes, expected->bytes) << round;
    // What it says it costs is what its strategies cost.
    double ns = 0;
    for (std::size_t l = 0; l < chain.layers.size(); ++l) {
      ns += chain.layers[l][found->strategies[l]]->ns;
      if (l > 0) ns += chain.reshard_ns[found->strategies[l - 1]][found->strategies[l]];
    }
    EXPECT_EQ(ns, found->ns) << round;
  }
  EXPECT_GT(possible, 1000);
  EXPECT_GT(impossible, 100);
}

TEST(LayerChoice, more_memory_is_never_slower) {
  std::mt19937 engine(11);
  for (int round = 0; round < 300; ++round) {
    LayerChain chain = random_chain(engine);
    std::optional<double> before;
    for (std::int64_t bytes = 1; bytes < 60; ++bytes) {
      chain.bytes_max = bytes;
      const auto found = choose_layers(chain);
      ASSERT_TRUE(found || !before) << "more memory, and nothing fits any more";
      if (!found) continue;
      if (before) {
        EXPECT_LE(found->ns, *before);
      }
      before = found->ns;
    }
  }
}

TEST(LayerChoice, resharding_that_costs_more_than_it_saves_is_left_out) {
  // Layer 1 alone is faster by 3 under the other strategy; going there and back costs 2 x 2.
  LayerChain chain{.layers = {{LayerCost{1, 1}, LayerCost{9, 1}},
                              {LayerCost{5, 1}, LayerCost{2, 1}},
                              {LayerCost{1, 1}, LayerCost{9, 1}}},
                   .reshard_ns = {{0, 2}, {2, 0}},
                   .bytes_max = std::nullopt};
  EXPECT_EQ(choose_layers(chain)->strategies, (std::vector<std::size_t>{0, 0, 0}));
  chain.reshard_ns = {{0, 1}, {1, 0}};
  EXPECT_EQ(choose_layers(chain)->strategies, (std::vector<std::size_t>{0, 1, 0}));
  EXPECT_EQ(choose_layers(chain)->ns, 6);
}

StageQuestion random_question(std::mt19937& engine) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  const std::size_t stages = 1 + as_size(below(4));
  const std::size_t layers = stages + as_size(below(6));
  StageQuestion out;
  const bool is_limited = below(2) == 0;
  for (std::size_t s = 0; s < stages; ++s) {
    out.layer_ns.emplace_back();
    out.layer_bytes.emplace_back();
    const int speed = 1 + below(4);
    for (std::size_t l = 0; l < layers; ++l) {
      out.layer_ns.back().push_back(as_double(speed * (1 + below(6))));
      out.layer_bytes.back().push_back(1 + below(4));
    }
    out.own_ns.push_back(below(8));
    out.own_bytes.push_back(below(5));
    if (is_limited) out.bytes_max.push_back(4 + below(14));
    if (s + 1 < stages) out.hand_over_ns.push_back(below(9));
  }
  return out;
}

struct Cut {
  double slowest = 0, sum = 0;
  bool fits = true;
};

Cut cost_of(const StageQuestion& q, const std::vector<int>& layers) {
  Cut out;
  std::size_t at = 0;
  for (std::size_t s = 0; s < layers.size(); ++s) {
    double ns = q.own_ns[s] + (s + 1 < layers.size() ? q.hand_over_ns[s] : 0);
    std::int64_t bytes = q.own_bytes[s];
    for (int i = 0; i < layers[s]; ++i, ++at) {
      ns += q.layer_ns[s][at];
      bytes += q.layer_bytes[s][at];
    }
    out.fits = out.fits && (q.bytes_max.empty() || bytes <= q.bytes_max[s]);
    out.slowest = std::max(out.slowest, ns);
    out.sum += ns;
  }
  return out;
}

void for_every_cut(std::size_t stages, int layers, std::vector<int>& before,
                   const std::function<void(const std::vector<int>&)>& call) {
  if (stages == 1) {
    before.push_back(layers);
    call(before);
    before.pop_back();
    return;
  }
  for (int first = 1; first <= layers - static_cast<int>(stages) + 1; ++first) {
    before.push_back(first);
    for_every_cut(stages - 1, layers - first, before, call);
    before.pop_back();
  }
}

TEST(StageChoice, equals_exhaustive_enumeration_over_unlike_devices_links_and_memories) {
  std::mt19937 engine(3);
  int impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    const StageQuestion question = random_question(engine);
    std::optional<Cut> best;
    std::vector<int> cut;
    for_every_cut(question.layer_ns.size(), static_cast<int>(question.layer_ns.front().size()), cut,
                  [&](const std::vector<int>& layers) {
                    const Cut made = cost_of(question, layers);
                    if (!made.fits) return;
                    const bool is_better = !best || made.slowest < best->slowest ||
                                           (made.slowest == best->slowest && made.sum < best->sum);
                    if (is_better) best = made;
                  });
    const auto found = choose_stages(question);
    ASSERT_EQ(found.has_value(), best.has_value()) << round;
    impossible += found ? 0 : 1;
    if (!found) continue;
    EXPECT_EQ(found->slowest_ns, best->slowest) << round;
    EXPECT_EQ(found->sum_ns, best->sum) << round;
    EXPECT_EQ(cost_of(question, found->layers).slowest, found->slowest_ns) << round;
  }
  EXPECT_GT(impossible, 50);
}

TEST(StageChoice, a_device_that_is_twice_as_fast_gets_twice_the_layers) {
  StageQuestion q{
      .layer_ns = {std::vector<double>(30, 1), std::vector<double>(30, 2)},
      .layer_bytes = {std::vector<std::int64_t>(30, 1), std::vector<std::int64_t>(30, 1)},
      .own_ns = {0, 0},
      .own_bytes = {0, 0},
      .bytes_max = {},
      .hand_over_ns = {0}};
  EXPECT_EQ(choose_stages(q)->layers, (std::vector<int>{20, 10}));
  q.bytes_max = {16, 16};  // but the fast one holds 16
  EXPECT_EQ(choose_stages(q)->layers, (std::vector<int>{16, 14}));
  q.bytes_max = {14, 14};
  EXPECT_FALSE(choose_stages(q));
}

TEST(StageChoice, a_head_takes_layers_from_its_stage) {
  const StageQuestion q{
      .layer_ns = {std::vector<double>(28, 1), std::vector<double>(28, 1)},
      .layer_bytes = {std::vector<std::int64_t>(28, 1), std::vector<std::int64_t>(28, 1)},
      .own_ns = {0, 8},
      .own_bytes = {0, 0},
      .bytes_max = {},
      .hand_over_ns = {0}};
  EXPECT_EQ(choose_stages(q)->layers, (std::vector<int>{18, 10}));
}

TEST(StageChoice, faster_links_and_more_memory_are_never_slower) {
  std::mt19937 engine(5);
  for (int round = 0; round < 500; ++round) {
    StageQuestion question = random_question(engine);
    const auto before = choose_stages(question);
    if (!before) continue;
    for (std::int64_t& bytes : question.bytes_max) ++bytes;
    for (double& ns : question.hand_over_ns) ns *= 0.5;
    EXPECT_LE(choose_stages(question)->slowest_ns, before->slowest_ns);
  }
}

}  // namespace
}  // namespace halmark::simulate
