// Staging kernels in a worker and revealing what they wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fake_worker.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/kernels/written.hpp"
#include "tests/unit/shadow_memory.hpp"

namespace halmark {
namespace {

using enum CacheMode;
using test::count_samples;
using test::expect_product;

using test::FakeWorker;
using test::gemm;
using test::stage_of;

TEST(WorkerStage, a_file_that_is_no_plugin_is_refused_by_reason) {
  const auto loaded = test::bare_worker()->load("/etc/hostname");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure.status, Status::refused);
  EXPECT_FALSE(loaded.failure.worker_is_gone);
}

TEST(WorkerStage, an_op_without_a_kernel_and_an_unknown_kernel_have_their_own_status) {
  FakeWorker worker("unsupported=copy");
  auto copy = worker->stage(stage_of(1, {"copy", {{"bytes", 64}}}, hot, 1));
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.failure.status, Status::unsupported);
  auto stage = test::small_stage();
  stage.kernel = "gemmm";
  auto unknown = worker->stage(stage);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.failure.reason.find("gemm"), std::string::npos);
  auto no_op = worker->stage(stage_of(1, {"gem", {}}, hot, 1));
  ASSERT_FALSE(no_op);
  EXPECT_FALSE(no_op.failure.worker_is_gone);
}

TEST(WorkerStage, labels_reach_the_plugin_as_its_integers) {
  FakeWorker worker("latency_ns=1000000");
  auto stage = stage_of(1, gemm(4, 4, 4), hot, 1);
  stage.config.labels = {{"impl", "wide"}};
  auto wide = worker->stage(stage);
  ASSERT_TRUE(wide) << wide.failure.reason;
  stage.id = 2;
  stage.config.labels = {{"impl", "naive"}};
  auto naive = worker->stage(stage);
  ASSERT_TRUE(naive) << naive.failure.reason;
  EXPECT_NE(wide->implementation.name, naive->implementation.name);
  stage.id = 3;
  stage.config.labels = {{"impl", "wid"}};
  auto unknown = worker->stage(stage);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.failure.reason.find("wide"), std::string::npos) << unknown.failure.reason;
}

TEST(WorkerStage, sets_end_where_the_arena_ends) {
  FakeWorker worker("", 1 << 20);
  auto staged = worker->stage(stage_of(1, gemm(1, 256, 256), rotate_const, 64));
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_GE(staged->sets, 2);
  EXPECT_LE(staged->sets, 4) << "256 KiB of weights each";
  // Dropping gives the arena back.
  ASSERT_TRUE(worker->drop(1));
  auto again = worker->stage(stage_of(2, gemm(1, 256, 256), rotate_const, 64));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sets, staged->sets);
}

// src 1 x 256, weights 256 x 256 in three sets, dst 1 x 256; canaries of 64 bytes and 64 bytes of
// alignment make a page more of the weights.
TEST(WorkerStage, says_what_it_allocated_for_each_operand) {
  FakeWorker worker("workspace_bytes=5000", 4 << 20);
  const auto staged = worker->stage(stage_of(1, gemm(1, 256, 256), rotate_const, 3));
  ASSERT_TRUE(staged) << staged.failure.reason;
  ASSERT_EQ(staged->memory.size(), 4u);
  const auto expect = [&](std::size_t at, std::int64_t operand, std::int64_t bytes,
                          std::int64_t buffers, std::int64_t allocated) {
    const protocol::StagedMemory& entry = staged->memory[at];
    EXPECT_EQ(entry.operand, operand);
    EXPECT_EQ(entry.bytes, bytes) << at;
    EXPECT_EQ(entry.buffers, buffers) << at;
    EXPECT_EQ(entry.allocated_bytes, allocated) << at;
    EXPECT_TRUE(entry.is_host) << at;
  };
  expect(0, 0, 1024, 1, 4096);
  expect(1, 1, 256 * 1024, 3, 3 * (256 * 1024 + 4096));
  expect(2, 2, 1024, 3, 3 * 4096);
  expect(3, protocol::StagedMemory::workspace, 5000, 1, 3 * 4096);
}

// A set size without what is free: staging 24 MiB shows as such, and dropping them takes it back.
TEST(WorkerStage, the_set_size_follows_what_is_staged) {
  if (test::has_shadow_memory) GTEST_SKIP() << "what a sanitizer notes of pages is in the set too";
  FakeWorker worker("", 64 << 20);
  const auto set_size = [&] {
    const auto answer = worker->memory();
    EXPECT_TRUE(answer) << answer.failure.reason;
    EXPECT_TRUE(answer->set_size_bytes) << answer->reason;
    return static_cast<double>(answer->set_size_bytes.value_or(0));
  };
  const double before = set_size();
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(1, 1024, 1024), rotate_const, 6)));
  // Pages of libraries count more or less as other workers of the same program end or start.
  EXPECT_NEAR(set_size() - before, 24 << 20, 8 << 20) << "this process has touched no page of it";
  ASSERT_TRUE(worker->drop(1));
  EXPECT_NEAR(set_size() - before, 0, 8 << 20);
}

TEST(WorkerStage, a_plugin_that_hoards_shows_in_the_set_size_alone) {
  if (test::has_shadow_memory) GTEST_SKIP() << "what a sanitizer notes of pages is in the set too";
  FakeWorker worker("hoard_bytes=33554432", 4 << 20);
  const auto before = worker->memory();
  ASSERT_TRUE(before && before->set_size_bytes);
  const auto staged = worker->stage(stage_of(1, gemm(1, 64, 64), hot, 1));
  ASSERT_TRUE(staged);
  std::int64_t said = 0;
  for (const auto& entry : staged->memory) said += entry.allocated_bytes;
  EXPECT_LT(said, 1 << 20);
  const auto after = worker->memory();
  ASSERT_TRUE(after && after->set_size_bytes);
  EXPECT_NEAR(static_cast<double>(*after->set_size_bytes - *before->set_size_bytes), 32 << 20,
              12 << 20);
}

// 64 x 64 needs 48 KiB; the share of the machine is gigabytes.
TEST(WorkerStage, a_kernel_is_stopped_at_its_tensors_and_what_the_worker_held) {
  if (test::has_shadow_memory) GTEST_SKIP() << "limits are off in a sanitizer's build";
  const std::string six_gib = "kind=cpu;devour_bytes=6442450944;";
  struct Case {
    std::string script;
    const char* text;
  };
  for (const Case& c : {Case{six_gib + "devour=enqueue;after=1", " held before, 8 x 0.0"},
                        Case{six_gib + "devour=prepare;after=1", " held before, 8 x 0.0"},
                        Case{six_gib + "devour=enqueue", " of stacks, 8 x 0.0"}}) {
    FakeWorker worker(c.script, 4 << 20);
    const auto staged = worker->stage(stage_of(1, gemm(64, 64, 64), hot, 1));
    ASSERT_FALSE(staged) << c.script;
    EXPECT_EQ(staged.failure.status, Status::out_of_memory) << staged.failure.reason;
    EXPECT_NE(staged.failure.reason.find(c.text), std::string::npos) << staged.failure.reason;
    EXPECT_NE(staged.failure.reason.find("MiB of tensors, 256 MiB"), std::string::npos);
  }
}

TEST(WorkerStage, what_a_kernel_of_a_device_or_with_large_tensors_takes_is_no_harm) {
  if (test::has_shadow_memory) GTEST_SKIP() << "limits are off in a sanitizer's build";
  // 300 MiB beside tensors: too much for 64 x 64, a few times what a copy of 32 MiB reads and
  // writes.
  const std::string hoard = "hoard_bytes=314572800;latency_ns=1";
  FakeWorker device(hoard, 4 << 20);
  EXPECT_TRUE(device->stage(stage_of(1, gemm(64, 64, 64), hot, 1)));
  FakeWorker small("kind=cpu;" + hoard, 4 << 20);
  EXPECT_FALSE(small->stage(stage_of(1, gemm(64, 64, 64), hot, 1)));
  FakeWorker large("kind=cpu;" + hoard, 4 << 20);
  const auto staged = large->stage(stage_of(1, {"copy", {{"bytes", 32 << 20}}}, hot, 1));
  EXPECT_TRUE(staged) << staged.failure.reason;
}

TEST(WorkerStage, opaque_constants_are_packed_for_every_set) {
  FakeWorker worker("constants_opaque=1", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  auto staged = worker->stage(stage_of(1, problem, rotate_const, 2));
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_TRUE(staged->constants_opaque);
  EXPECT_FALSE(staged->constants_shared);
}

TEST(WorkerStage, an_input_behind_the_constants_is_filled_too) {
  FakeWorker worker;
  const Problem problem{"grouped_gemm",
                        test::written("tokens=1 top_k=1 experts=1 n=1 k=1 src_dtype=f32 "
                                      "wei_dtype=f32 dst_dtype=f32")};
  ASSERT_TRUE(worker->stage(stage_of(1, problem, hot, 1)));
  auto shown = worker->reveal({1, {0}});
  ASSERT_TRUE(shown) << shown.failure.reason;
  const Problem whole = complete_problem(problem);
  const GeneratedInputs inputs(7, find_contract(whole.op)->operands(whole.params), 0);
  std::array<double, 1> src{}, wei{};
  inputs.read(0, 0, 0, src);
  inputs.read(0, 1, 0, wei);
  const std::byte* dst = shown->part(shown->revealed.parts.at(0)).data();
  EXPECT_FLOAT_EQ(static_cast<float>(load_element(Dtype::f32, dst, 0)),
                  static_cast<float>(src[0] * wei[0]));
}

TEST(WorkerStage, constants_that_are_compiled_in_get_a_prepared_kernel_per_set_and_eight_at_most) {
  FakeWorker worker("constants_in_prepared=1", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  for (const int wanted : {7, 12}) {
    auto staged = worker->stage(stage_of(wanted, problem, rotate_all, wanted));
    ASSERT_TRUE(staged) << staged.failure.reason;
    EXPECT_EQ(staged->sets, std::min(wanted, 8));
    EXPECT_FALSE(staged->constants_shared);
  }
  auto request = count_samples(7, 3);
  request.rule.repeat = 5;  // each sample goes beyond the end of the ring or begins inside it
  ASSERT_TRUE(worker->sample(request));
  auto shown = worker->reveal({7, {0, 3, 6}});
  ASSERT_TRUE(shown) << shown.failure.reason;
  for (const int set : {0, 3, 6}) expect_product(problem, *shown, set, set);
}

TEST(WorkerReveal, a_write_past_an_output_and_a_changed_input_are_named) {
  for (const auto& [script, operand] :
       {std::pair("overrun=1", "dst"), {"mutate_inputs=1", "src"}}) {
    FakeWorker worker(script);
    ASSERT_TRUE(worker->stage(test::small_stage()));
    const auto shown = worker->reveal({1, {0}});
    ASSERT_TRUE(shown) << shown.failure.reason;
    EXPECT_EQ(shown->revealed.canaries_intact, operand[0] == 's');
    EXPECT_EQ(shown->revealed.inputs_intact, operand[0] == 'd');
    EXPECT_NE(shown->revealed.damage.find(operand), std::string::npos) << shown->revealed.damage;
  }
}

TEST(WorkerReveal, skipped_repeats_leave_poison_in_the_outputs) {
  FakeWorker worker("wrong=skip_repeats", 4 << 20);
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), rotate_const, 4)));
  auto request = count_samples(1, 3);
  request.rule.repeat = 4;
  ASSERT_TRUE(worker->sample(request));
  auto shown = worker->reveal({1, {3}});
  ASSERT_TRUE(shown);
  EXPECT_TRUE(
      std::isnan(load_element(Dtype::f32, shown->part(shown->revealed.parts.at(0)).data(), 0)));
}

}  // namespace
}  // namespace halmark
