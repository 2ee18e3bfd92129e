// Bytes of a stack by role, explained: every figure here is counted by hand.
#include "tune/validate/measured_memory.hpp"

#include <gmock/gmock.h>

#include "model/pricing/memory.hpp"
#include "tests/checkout.hpp"

namespace halmark::tune {
namespace {

using Buffers = RankStaging::Buffers;
using testing::ElementsAre;
using testing::HasSubstr;

// Three layers, hidden 64, 4 heads and 2 KV heads of width 32, FFN 160, vocabulary 512, tied.
OperatorGraph graph_of(Parallel parallel = {}, std::int64_t batch = 1) {
  const ModelSpec spec = load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")});
  const Configuration c{.model = spec.id,
                        .parallel = parallel,
                        .precision = Precision::uniform("f32", Dtype::f32),
                        .workload = {Phase::decode, batch, 1, 16}};
  return *build_graph(spec, c);
}

Buffers buffers(std::int64_t operand, std::int64_t bytes, std::int64_t count,
                std::int64_t block_bytes) {
  return {.operand = operand,
          .bytes = bytes,
          .count = count,
          .allocated_bytes = count * block_bytes,
          .around_bytes = block_bytes - bytes,
          .is_host = true};
}

constexpr std::int64_t table_bytes = 512 * 64 * 4;
constexpr std::int64_t f32 = static_cast<std::int64_t>(Dtype::f32);

// The head of the model: 512 outputs of 64 inputs, as one instance.
RankStaging::Kernel head() {
  return {.problem = complete_problem({"gemm",
                                       {{"m", 1},
                                        {"n", 512},
                                        {"k", 64},
                                        {"src_dtype", f32},
                                        {"wei_dtype", f32},
                                        {"dst_dtype", f32}}}),
          .instances = 1,
          .sets = 1,
          .memory = {buffers(0, 256, 1, 4096), buffers(1, table_bytes, 1, table_bytes + 4096),
                     buffers(2, 2048, 1, 4096)}};
}

const RoleMemory* role_of(const MemoryOfRank& rank, const std::string& name) {
  for (const RoleMemory& role : rank.roles) {
    if (role.role == name) return &role;
  }
  return nullptr;
}

std::int64_t bytes_of(const RoleMemory& role, const std::string& cause) {
  for (const MemoryCause& c : role.causes) {
    if (c.name == cause) return c.bytes;
  }
  return 0;
}

MemoryOfRank measured(const RankStaging& staged) {
  return measured_memory(graph_of(), std::vector{staged}).ranks.at(0);
}

// A stack of the head alone lacks all other weights of the model: nothing here may explain them.
TEST(MeasuredMemory, what_is_missing_is_unexplained) {
  const MemoryOfRank rank = measured({.kernels = {head()}});
  const RoleMemory& weights = *role_of(rank, "weights");
  const RankMemory modelled = memory_use(graph_of()).largest;
  EXPECT_EQ(weights.modelled_bytes, modelled.weight_bytes);
  EXPECT_EQ(weights.allocated_bytes, table_bytes + 4096);
  EXPECT_EQ(bytes_of(weights, "tied table held twice"), table_bytes);
  EXPECT_EQ(bytes_of(weights, "guards and whole pages"), 4096);
  EXPECT_EQ(weights.unexplained_bytes(), -modelled.weight_bytes);
  EXPECT_EQ(role_of(rank, "kv_cache")->unexplained_bytes(), -modelled.kv_bytes);
  EXPECT_EQ(rank.unexplained_bytes(), modelled.weight_bytes + modelled.kv_bytes);
}

TEST(MeasuredMemory, activations_are_kept_per_kernel_and_every_byte_of_them_has_a_cause) {
  RankStaging::Kernel kernel = head();
  kernel.memory[2] = buffers(2, 2048, 3, 4096);
  const MemoryOfRank rank = measured({.kernels = {kernel}});
  const RoleMemory& activations = *role_of(rank, "activations");
  EXPECT_EQ(activations.allocated_bytes, 4 * 4096);
  EXPECT_EQ(bytes_of(activations, "kept per kernel, where a runtime reuses them"),
            256 + 2048 - memory_use(graph_of()).largest.activation_bytes);
  EXPECT_EQ(bytes_of(activations, "further argument sets"), 2 * 2048);
  EXPECT_EQ(bytes_of(activations, "guards and whole pages"), (4096 - 256) + 3 * (4096 - 2048));
  EXPECT_EQ(activations.unexplained_bytes(), 0);
}

TEST(MeasuredMemory, shared_sets_packed_layouts_and_wasted_blocks_are_told_apart) {
  const RankStaging whole{.kernels = {head()}};
  const std::int64_t before = role_of(measured(whole), "weights")->unexplained_bytes();
  RankStaging fewer = whole;
  fewer.kernels[0].instances = 5;  // in three sets
  fewer.kernels[0].sets = 3;
  fewer.kernels[0].memory[1] = buffers(1, table_bytes + 640, 3, table_bytes + 4096);
  const MemoryOfRank fewer_rank = measured(fewer);
  const RoleMemory& shared = *role_of(fewer_rank, "weights");
  EXPECT_EQ(bytes_of(shared, "instances that share a set, because memory ended"), -2 * table_bytes);
  EXPECT_EQ(bytes_of(shared, "packed by the plugin"), 3 * 640);
  EXPECT_EQ(bytes_of(shared, "guards and whole pages"), 3 * (4096 - 640));
  EXPECT_EQ(shared.unexplained_bytes(), before + 4 * table_bytes)
      << "five instances in one's place";
  RankStaging wasteful = whole;
  wasteful.kernels[0].memory[1].allocated_bytes += 8192;
  EXPECT_EQ(role_of(measured(wasteful), "weights")->unexplained_bytes(), before + 8192);
}

TEST(MeasuredMemory, collectives_and_scratch_memory_are_roles_of_their_own) {
  RankStaging::Kernel reduce{
      .problem = complete_problem({"all_reduce", {{"bytes", 4096}, {"ranks", 2}, {"dtype", f32}}}),
      .instances = 1,
      .workspace_bytes = 10'000,
      .sets = 1,
      .memory = {buffers(0, 4096, 1, 8192), buffers(1, 4096, 1, 8192)}};
  reduce.memory.push_back({.operand = Buffers::workspace,
                           .bytes = 10'000,
                           .count = 1,
                           .allocated_bytes = 16'384,
                           .around_bytes = 6'384,
                           .is_host = true});
  const MemoryOfRank rank = measured({.kernels = {reduce}});
  const RoleMemory& collectives = *role_of(rank, "collectives");
  EXPECT_EQ(collectives.allocated_bytes, 16'384);
  EXPECT_EQ(bytes_of(collectives, "source and destination of each"), 8192);
  EXPECT_EQ(collectives.unexplained_bytes(), 0);
  const RoleMemory& workspace = *role_of(rank, "workspace");
  EXPECT_THAT(workspace.causes, ElementsAre(MemoryCause{"scratch memory of each kernel", 10'000},
                                            MemoryCause{"guards and whole pages", 6384}));
  EXPECT_EQ(workspace.unexplained_bytes(), 0);
  EXPECT_EQ(role_of(measured({.kernels = {head()}}), "workspace"), nullptr);
}

TEST(MeasuredMemory, kernels_beside_the_stack_are_no_role_and_belong_to_the_set_size) {
  RankStaging staged{.kernels = {head()}};
  staged.kernels[0].instances = 0;
  staged.baseline_bytes = 1'000'000;
  staged.set_size_bytes = 1'200'000;
  staged.probe_bytes = 50'000;
  const MemoryOfRank rank = measured(staged);
  EXPECT_EQ(rank.allocated_bytes(), 0);
  EXPECT_EQ(rank.beside_bytes, table_bytes + 3 * 4096);
  ASSERT_TRUE(rank.set_size) << rank.set_size_reason;
  EXPECT_EQ(rank.set_size->grown_bytes, 200'000);
  EXPECT_EQ(rank.set_size->expected_bytes, table_bytes + 3 * 4096 + 50'000);
  EXPECT_EQ(rank.set_size->verdict(), SetSizeVerdict::too_small);
}

TEST(MeasuredMemory, without_a_set_size_there_is_a_reason) {
  RankStaging staged{.kernels = {head()}, .reason = "smaps_rollup cannot be read"};
  EXPECT_EQ(measured(staged).set_size_reason, "smaps_rollup cannot be read");
  staged.baseline_bytes = staged.set_size_bytes = 1;
  staged.kernels[0].memory[1].is_host = false;
  EXPECT_FALSE(measured(staged).set_size);
  EXPECT_THAT(measured(staged).set_size_reason, HasSubstr("memory of its own"));
  staged.kernels[0].memory[1] = {.operand = 1};
  EXPECT_THAT(measured(staged).set_size_reason, HasSubstr("compiles constants"));
  const MemoryOfRank compiled = measured(staged);
  EXPECT_EQ(bytes_of(*role_of(compiled, "weights"), "compiled into kernels"), -table_bytes);
}

TEST(MeasuredMemory, each_rank_is_set_against_its_own_stage) {
  const OperatorGraph graph = graph_of({.tp = 2, .pp = 2}, 2);
  const MemoryUse use = memory_use(graph);
  const MeasuredMemory memory = measured_memory(graph, std::vector<RankStaging>(4));
  ASSERT_EQ(memory.ranks.size(), 4u);
  for (const std::size_t rank : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(role_of(memory.ranks[rank], "weights")->modelled_bytes,
              use.stages[rank / 2].weight_bytes);
  }
  EXPECT_NE(use.stages[0].weight_bytes, use.stages[1].weight_bytes);
}

TEST(ProportionalSet, five_percent_of_half_a_gib_and_more) {
  const auto of = [](double share) {
    const std::int64_t expected = 1ll << 30;
    return ProportionalSet{
        .grown_bytes = static_cast<std::int64_t>(share * static_cast<double>(expected)),
        .expected_bytes = expected}
        .verdict();
  };
  EXPECT_EQ(of(1.049), SetSizeVerdict::within);
  EXPECT_EQ(of(0.951), SetSizeVerdict::within);
  EXPECT_EQ(of(1.051), SetSizeVerdict::beyond);
  EXPECT_EQ(of(0.949), SetSizeVerdict::beyond);
  const std::int64_t half = 512ll << 20;
  EXPECT_EQ((ProportionalSet{.grown_bytes = 2 * half, .expected_bytes = half}.verdict()),
            SetSizeVerdict::beyond);
  EXPECT_EQ((ProportionalSet{.grown_bytes = half, .expected_bytes = half - 1}.verdict()),
            SetSizeVerdict::too_small);
  EXPECT_FALSE(ProportionalSet{.grown_bytes = 1}.difference());
}

}  // namespace
}  // namespace halmark::tune
