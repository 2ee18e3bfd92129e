// What a staged kernel states of itself, what it shows afterwards, and whose constants its sets
// carry; under a clock that a test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using namespace protocol;
using enum CacheMode;
using test::failure_of;
using test::gemm;
using test::of;
using test::state;
using test::TableDevice;
using testing::ElementsAre;
using testing::HasSubstr;

const Problem copy = test::copy(100);

// Copies, so that outputs are those of their inputs.
std::int32_t copy_all(const hm_launch& launch) {
  for (std::uint64_t i = 0; i < launch.repeat; ++i) {
    const hm_arguments& set = launch.sets[i % launch.set_count];
    std::memcpy(of(set.buffers[1]).data, of(set.buffers[0]).data, of(set.buffers[0]).bytes);
  }
  return HM_OK;
}

TEST(StagedKernel, states_what_was_staged_and_what_each_step_took) {
  TableDevice d(gemm);
  state.flags = HM_PREPARED_NONDETERMINISTIC | HM_PREPARED_CONSTANTS_OPAQUE;
  state.workspace_bytes = 500;
  d.clock.per_reading_ns = 1000;
  std::vector<std::string> phases;
  const StagedKernel kernel(*d.context, d.request(rotate_const, 2),
                            [&](const char* phase) { phases.emplace_back(phase); });
  EXPECT_THAT(phases, ElementsAre("create", "pack", "first"));
  const Staged& staged = kernel.staged();
  EXPECT_EQ(staged.id, 1);
  EXPECT_EQ(staged.kernel, "table");
  EXPECT_EQ(staged.implementation.name, "table");
  EXPECT_EQ(staged.sets, 2);
  EXPECT_EQ(staged.workspace_bytes, 500);
  EXPECT_TRUE(staged.nondeterministic);
  EXPECT_TRUE(staged.constants_opaque);
  EXPECT_FALSE(staged.constants_shared);
  EXPECT_EQ(staged.one_time.create_ns, 1000);
  EXPECT_EQ(staged.one_time.pack_ns, 1000);
  EXPECT_EQ(staged.one_time.first_ns, 1000);
  EXPECT_FALSE(kernel.syncs_inside());
  EXPECT_FALSE(kernel.is_collective());
  EXPECT_EQ(kernel.work().compute_dtype, Dtype::f32);
}

TEST(StagedKernel, is_called_once_on_its_first_set) {
  TableDevice d(copy);
  std::vector<std::uint64_t> repeats;
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    repeats.push_back(launch.repeat);
    EXPECT_EQ(of(launch.sets[0].buffers[1]).data[0], std::byte{0xFF}) << "poisoned before";
    return HM_OK;
  };
  const auto kernel = d.stage(rotate_all, 2);
  EXPECT_THAT(repeats, ElementsAre(1));
  state.on_enqueue = nullptr;
  EXPECT_THAT(state.calls, ElementsAre("enqueue", "wait"));
  state.wait = HM_DEVICE_LOST;
  EXPECT_EQ(failure_of([&] { d.stage(hot, 1); }).phase, "first");
  EXPECT_EQ(kernel->run(0, 1).status, HM_DEVICE_LOST);
  const hm_arguments other{nullptr, nullptr, 0, 0};
  EXPECT_EQ(kernel->run_on(0, other).status, HM_DEVICE_LOST);
  state.on_enqueue = test::launch_fails;
  EXPECT_EQ(kernel->run(0, 1).status, HM_LAUNCH_FAILED);
  EXPECT_EQ(kernel->run_on(0, other).status, HM_LAUNCH_FAILED);
}

TEST(StagedKernel, of_compiled_constants_enqueues_each_set_by_itself) {
  TableDevice d(gemm);
  state.flags = HM_PREPARED_CONSTANTS_IN_PREPARED;
  const auto kernel = d.stage(rotate_const, 3);
  std::vector<hm_buffer* const*> seen;
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    EXPECT_EQ(launch.repeat, 1u);
    EXPECT_EQ(launch.set_count, 1u);
    seen.push_back(launch.sets[0].buffers);
    return seen.size() < 5 ? HM_OK : HM_LAUNCH_FAILED;
  };
  const auto row = [&](int set) { return kernel->ring().handles(set).data(); };
  EXPECT_TRUE(kernel->enqueue(2, 4).ok());
  EXPECT_THAT(seen, ElementsAre(row(2), row(0), row(1), row(2)));
  EXPECT_EQ(kernel->enqueue(0, 3).status, HM_LAUNCH_FAILED);
  EXPECT_EQ(seen.size(), 5u) << "nothing behind the failure";
}

TEST(Reveal, shows_outputs_on_lines_in_the_order_that_was_asked_for) {
  TableDevice d(copy);
  state.on_enqueue = copy_all;
  const auto kernel = d.stage(rotate_all, 3);
  EXPECT_TRUE(kernel->run(0, 3).ok());
  const auto shown = kernel->reveal({1, {2, 0}});
  EXPECT_EQ(shown.answer.id, 1);
  EXPECT_TRUE(shown.answer.inputs_intact && shown.answer.canaries_intact);
  EXPECT_EQ(shown.answer.damage, "");
  ASSERT_EQ(shown.answer.parts.size(), 2u);
  EXPECT_EQ(shown.memory.bytes(), 256);
  for (std::size_t i = 0; i < 2; ++i) {
    const RevealedPart& part = shown.answer.parts[i];
    EXPECT_EQ(part.set, i == 0 ? 2 : 0);
    EXPECT_EQ(part.operand, 1);
    EXPECT_EQ(part.offset, i == 0 ? 0 : 128);
    EXPECT_EQ(part.bytes, 100);
    EXPECT_EQ(std::memcmp(shown.memory.data() + part.offset,
                          kernel->ring().buffer(part.set, 0).host(), 100),
              0);
  }
  EXPECT_EQ(kernel->reveal({1, {}}).answer.parts.size(), 0u);
  for (const int set : {-1, 3}) {
    const Failed failure = failure_of([&] { kernel->reveal({1, {0, set}}); });
    EXPECT_EQ(failure.message, "set " + std::to_string(set) + " of 3");
    EXPECT_EQ(failure.phase, "reveal");
  }
}

TEST(Reveal, executes_afresh_on_the_inputs_of_another_set) {
  TableDevice d(copy);
  const auto kernel = d.stage(rotate_all, 2);
  state.on_enqueue = copy_all;
  const auto shown = kernel->reveal({1, {1, 0}, 9});
  const InputPool pool(7, find_contract("copy")->operands(state.problem.params)[0]);
  std::vector<std::byte> expected(100);
  pool.fill(0, 9, 0, expected.data());
  for (const RevealedPart& part : shown.answer.parts) {
    EXPECT_EQ(std::memcmp(shown.memory.data() + part.offset, expected.data(), 100), 0);
  }
  EXPECT_TRUE(kernel->reveal({1, {0}}).answer.inputs_intact) << "the host itself wrote them";
  int poisoned = 0;
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    poisoned += of(launch.sets[0].buffers[1]).data[99] == std::byte{0xFF};
    return HM_OK;
  };
  kernel->reveal({1, {1, 0}, 4});
  EXPECT_EQ(poisoned, 2);
  state.on_enqueue = test::launch_fails;
  EXPECT_EQ(failure_of([&] { kernel->reveal({1, {0}, 4}); }).phase, "reveal");
}

// Of inputs the first and the last set are summed; the surroundings of all are looked at.
TEST(Reveal, names_the_input_that_changed_and_the_set_around_which_was_written) {
  for (const int set : {0, 2}) {
    TableDevice d(copy);
    const auto kernel = d.stage(rotate_all, 3);
    kernel->ring().buffer(set, 0).host()[99] ^= std::byte{1};
    const auto shown = kernel->reveal({1, {0}});
    EXPECT_FALSE(shown.answer.inputs_intact) << set;
    EXPECT_TRUE(shown.answer.canaries_intact);
    EXPECT_THAT(shown.answer.damage, HasSubstr("operand src was changed"));
  }
  for (const std::size_t operand : {0u, 1u}) {
    TableDevice d(copy);
    const auto kernel = d.stage(rotate_all, 3);
    kernel->ring().buffer(1, operand).host()[100] ^= std::byte{1};
    const auto shown = kernel->reveal({1, {0}});
    EXPECT_FALSE(shown.answer.canaries_intact);
    EXPECT_TRUE(shown.answer.inputs_intact);
    EXPECT_EQ(shown.answer.damage, std::string("memory around operand ") +
                                       (operand == 0 ? "src" : "dst") + " of set 1 was written");
  }
  TableDevice d(copy);
  state.workspace_bytes = 100;
  const auto kernel = d.stage(hot, 1);
  EXPECT_TRUE(kernel->reveal({1, {0}}).answer.canaries_intact);
  kernel->ring().workspace().host()[100] ^= std::byte{1};
  const auto shown = kernel->reveal({1, {0}});
  EXPECT_FALSE(shown.answer.canaries_intact);
  EXPECT_EQ(shown.answer.damage, "memory around the workspace was written");
}

TEST(Reveal, takes_new_inputs_as_the_ones_to_leave_alone) {
  TableDevice d(gemm);
  const auto kernel = d.stage(rotate_const, 2);
  kernel->reveal({1, {0}, 5});
  kernel->ring().buffer(0, 0).host()[0] ^= std::byte{1};
  EXPECT_FALSE(kernel->reveal({1, {0}}).answer.inputs_intact);
  const auto other = d.stage(rotate_const, 2);
  other->ring().buffer(1, 1).host()[0] ^= std::byte{1};
  EXPECT_THAT(other->reveal({1, {0}, 5}).answer.damage, HasSubstr("operand wei was changed"));
  EXPECT_FALSE(other->reveal({1, {0}}).answer.inputs_intact) << "a weight is not renewed";
}

struct Packed {
  std::vector<std::vector<std::byte>> weights;  // of each set
  int calls = 0;
  bool shared = false;
};

Packed packed(CacheMode mode, std::uint32_t flags, bool wraps = true) {
  TableDevice d(gemm);
  if (!wraps) {
    d.tables.memory.wrap = nullptr;
    d.reopen();
  }
  state.flags = flags;
  Packed out;
  state.on_load_constants = [&](const hm_arguments& a) {
    ++out.calls;
    EXPECT_EQ(a.count, 3u);
    EXPECT_EQ(a.sources[0], nullptr) << "an input has no source";
    return TableDevice::copy_sources(a);
  };
  const auto kernel = d.stage(mode, 3);
  out.shared = kernel->staged().constants_shared;
  for (int set = 0; set < 3; ++set) {
    std::vector<std::byte> bytes(80);
    kernel->ring().buffer(set, 1).read(bytes.data(), 80);
    out.weights.push_back(bytes);
  }
  return out;
}

std::vector<std::byte> pool_weights(int set) {
  const InputPool pool(7, find_contract("gemm")->operands(complete_problem(gemm).params)[1]);
  std::vector<std::byte> bytes(80);
  pool.fill(0, set, 1, bytes.data());
  return bytes;
}

TEST(StagedConstants, are_packed_once_and_copied_where_that_is_allowed) {
  for (const bool wraps : {true, false}) {
    const Packed copied = packed(rotate_const, 0, wraps);
    EXPECT_EQ(copied.calls, 1);
    EXPECT_TRUE(copied.shared);
    for (const auto& weights : copied.weights) EXPECT_EQ(weights, pool_weights(0));
  }
}

TEST(StagedConstants, are_packed_for_every_set_where_not) {
  for (const auto& [mode, flags] :
       {std::pair(rotate_all, 0u), std::pair(rotate_const, HM_PREPARED_CONSTANTS_OPAQUE),
        std::pair(rotate_const, HM_PREPARED_CONSTANTS_IN_PREPARED)}) {
    const Packed each = packed(mode, flags);
    EXPECT_EQ(each.calls, 3);
    EXPECT_FALSE(each.shared);
    for (int set = 0; set < 3; ++set) {
      EXPECT_EQ(each.weights[static_cast<std::size_t>(set)], pool_weights(set)) << flags << set;
    }
  }
}

TEST(StagedConstants, keep_their_sources_as_they_are) {
  TableDevice d(gemm);
  for (const std::ptrdiff_t at : {0, 79, 80, -1}) {
    state.on_load_constants = [at](const hm_arguments& a) -> std::int32_t {
      of(a.sources[1]).data[at] ^= std::byte{1};
      return HM_OK;
    };
    const Failed failure = failure_of([&] { d.stage(hot, 1); });
    EXPECT_EQ(failure.message, "load_constants changed its source wei") << at;
    EXPECT_EQ(failure.phase, "pack");
  }
}

TEST(StagedConstants, that_cannot_be_loaded_are_a_failure_of_the_plugin) {
  TableDevice d(gemm);
  state.on_load_constants = [](const hm_arguments&) -> std::int32_t { return HM_COMPILE_FAILED; };
  EXPECT_EQ(failure_of([&] { d.stage(hot, 1); }).code, HM_COMPILE_FAILED);
  d.tables.kernel.load_constants = nullptr;
  EXPECT_EQ(failure_of([&] { d.stage(hot, 1); }).message,
            "plugin table has constant operands but no load_constants");
}

}  // namespace
}  // namespace halmark::worker
