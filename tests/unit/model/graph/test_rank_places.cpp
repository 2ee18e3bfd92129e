#include "model/graph/rank_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/graph/expert_layout.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

TEST(RankPlaces, tensor_innermost_then_context_experts_stages_and_replicas) {
  const Parallel p{.dp = 6, .tp = 4, .pp = 5, .ep = 8, .cp = 3};
  EXPECT_EQ(group_stride(p, Split::row), 1);
  EXPECT_EQ(group_stride(p, Split::vocab), 1);
  EXPECT_EQ(group_stride(p, Split::context), 4);
  EXPECT_EQ(group_stride(p, Split::expert), 12) << "4 x 3";
  EXPECT_EQ(group_stride(p, Split::pipeline), 24) << "4 x 3 x 2 replicas that exchange rows";
  EXPECT_EQ(group_stride(p, Split::data), 120);
}

// Numbers made of one index per group are those of the devices, each once: no two groups collide.
TEST(RankPlaces, every_device_has_one_number) {
  for (const Parallel& p : {Parallel{.dp = 4, .tp = 2, .pp = 3, .ep = 4, .cp = 2},
                            Parallel{.dp = 2, .tp = 8, .pp = 1, .ep = 16, .cp = 1},
                            Parallel{.dp = 3, .tp = 1, .pp = 2, .ep = 3, .cp = 1}}) {
    const int across = expert_layout(p).across_replicas;
    std::set<std::int64_t> numbers;
    for (int t = 0; t < p.tp; ++t) {
      for (int c = 0; c < p.cp; ++c) {
        for (int e = 0; e < across; ++e) {
          for (int s = 0; s < p.pp; ++s) {
            for (int d = 0; d < p.dp / across; ++d) {
              numbers.insert(t * group_stride(p, Split::row) + c * group_stride(p, Split::context) +
                             e * group_stride(p, Split::expert) +
                             s * group_stride(p, Split::pipeline) +
                             d * group_stride(p, Split::data));
            }
          }
        }
      }
    }
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(p.devices()));
    EXPECT_EQ(*numbers.rbegin(), p.devices() - 1);
  }
}

TEST(RankPlaces, graphs_say_them_of_their_collectives) {
  const ModelSpec spec = load_model("qwen3-235b-a22b", {test::in_source("/configs/models")});
  auto built = build_graph(spec, {.model = spec.id,
                                  .parallel = {.dp = 2, .tp = 4, .pp = 2, .ep = 8},
                                  .precision = {},
                                  .workload = {Phase::decode, 8, 1, 64}});
  ASSERT_NE(built.get(), nullptr) << built.why()->text;
  std::set<std::pair<std::string, std::int64_t>> found;
  for (const Operator& op : built.get()->operators) {
    if (op.kind == OperatorKind::collective) found.emplace(op.local.op, op.group_stride);
  }
  const std::set<std::pair<std::string, std::int64_t>> wanted = {
      {"all_reduce", 1}, {"all_gather", 1}, {"all_to_all", 4}, {"send_recv", 8}};
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace halmark
