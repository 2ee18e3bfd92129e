// The choice of strategies along a chain of layers against all choices there are.
#include "simulate/sharding/layer_choice.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

LayerChain random_chain(std::mt19937& engine) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  const std::size_t layers = 1 + static_cast<std::size_t>(below(6));
  const std::size_t strategies = 1 + static_cast<std::size_t>(below(4));
  LayerChain out{.layers = {}, .reshard_ns = {}, .bytes_max = std::nullopt};
  for (std::size_t l = 0; l < layers; ++l) {
    std::vector<std::optional<LayerCost>> costs;
    for (std::size_t s = 0; s < strategies; ++s) {
      if (below(8) == 0) {
        costs.emplace_back();
      } else {
        costs.push_back(LayerCost{.ns = static_cast<double>(1 + below(20)), .bytes = 1 + below(9)});
      }
    }
    out.layers.push_back(std::move(costs));
  }
  for (std::size_t a = 0; a < strategies; ++a) {
    out.reshard_ns.emplace_back();
    for (std::size_t b = 0; b < strategies; ++b) {
      out.reshard_ns.back().push_back(a == b ? 0 : static_cast<double>(below(10)));
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

}  // namespace
}  // namespace halmark::simulate
