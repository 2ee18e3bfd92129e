// Cuts of a pipeline against all cuts there are, over devices and links that differ.
#include "simulate/sharding/stage_choice.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

StageQuestion random_question(std::mt19937& engine) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  const std::size_t stages = 1 + static_cast<std::size_t>(below(4));
  const std::size_t layers = stages + static_cast<std::size_t>(below(6));
  StageQuestion out;
  const bool is_limited = below(2) == 0;
  for (std::size_t s = 0; s < stages; ++s) {
    out.layer_ns.emplace_back();
    out.layer_bytes.emplace_back();
    const int speed = 1 + below(4);
    for (std::size_t l = 0; l < layers; ++l) {
      out.layer_ns.back().push_back(static_cast<double>(speed * (1 + below(6))));
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
