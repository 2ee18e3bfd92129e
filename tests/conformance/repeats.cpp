// The same inputs give the same outputs: over repeats and rings, from run to run, for copied
// constants, and in a sequence.
#include "check.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

using Test = void (*)(Worker&, const OpContract&, const Params&);

// repeat 1, 2, 17 over a ring of 3 and of 1: each set right, and the same bytes every time.
void repeats_and_rings(Worker& worker, const OpContract& contract, const Params& params) {
  std::vector<std::vector<std::byte>> first(3);
  bool is_deterministic = true;
  for (const int ring : {3, 1}) {
    for (const std::int64_t repeat : {1, 2, 17}) {
      const auto request = stage_request(contract, params, {.sets = ring});
      const auto staged = stage(worker, request);
      if (!staged) return;
      is_deterministic = is_deterministic && !staged->nondeterministic;
      const auto answer = worker.sample(counted(request.id, 3, repeat));
      ASSERT_TRUE(answer) << answer.failure.reason;
      EXPECT_EQ(answer->samples.size(), 3u);
      EXPECT_EQ(answer->measured.repeat, repeat);
      for (const auto& sample : answer->samples) EXPECT_GT(sample.wall_ns, 0);
      for (int set = 0; set < staged->sets; ++set) {
        EXPECT_TRUE(outputs_are_right(worker, request, *staged, {set}))
            << "ring " << ring << ", repeat " << repeat << ", set " << set;
        const auto bytes = output_bytes(worker, request.id, set);
        auto& seen = first[static_cast<std::size_t>(set)];
        if (seen.empty()) seen = bytes;
        if (!is_deterministic) continue;
        EXPECT_EQ(bytes, seen) << title(request.problem) << " ring " << ring << ", repeat "
                               << repeat << ", set " << set;
      }
      worker.drop(request.id);
    }
  }
}

// Every set has inputs of its own: an answer remembered from another set is wrong.
void own_inputs(Worker& worker, const OpContract& contract, const Params& params) {
  const auto request = stage_request(contract, params, {.sets = 3, .mode = CacheMode::rotate_all});
  const auto staged = stage(worker, request);
  if (!staged) return;
  const auto answer = worker.sample(counted(request.id, 2, 3));
  ASSERT_TRUE(answer) << answer.failure.reason;
  for (int set = 0; set < staged->sets; ++set) {
    EXPECT_TRUE(outputs_are_right(worker, request, *staged, {set})) << "set " << set;
  }
  worker.drop(request.id);
}

void three_runs(Worker& worker, const OpContract& contract, const Params& params) {
  std::vector<std::byte> first;
  for (int run = 0; run < 3; ++run) {
    const auto request = stage_request(contract, params);
    const auto staged = stage(worker, request);
    if (!staged) return;
    if (staged->nondeterministic) GTEST_SKIP() << "declared nondeterministic";
    const auto bytes = output_bytes(worker, request.id, 0);
    if (run == 0) first = bytes;
    EXPECT_EQ(bytes, first) << title(request.problem) << " run " << run;
    worker.drop(request.id);
  }
}

// Inputs stay warm, so a set that carries the constants of set 0 must show the outputs of set 0.
void copied_constants(Worker& worker, const OpContract& contract, const Params& params) {
  const auto request = stage_request(contract, params, {.sets = 2});
  const auto staged = stage(worker, request);
  if (!staged) return;
  if (staged->sets < 2) GTEST_SKIP() << "only one set fits";
  if (!staged->constants_shared) GTEST_SKIP() << "constants are packed set by set";
  const auto answer = worker.sample(counted(request.id, 2, 2));
  ASSERT_TRUE(answer) << answer.failure.reason;
  EXPECT_TRUE(outputs_are_right(worker, request, *staged, {0, 1}));
  if (!staged->nondeterministic) {
    EXPECT_EQ(output_bytes(worker, request.id, 0), output_bytes(worker, request.id, 1))
        << title(request.problem);
  }
  worker.drop(request.id);
}

// A sequence leaves what its steps leave one by one, several ids and sets in one worker.
void sequence_of_steps(Worker& worker, const OpContract& contract, const Params& params) {
  const auto a = stage_request(contract, params, {.sets = 2});
  const auto b = stage_request(contract, params, {.seed = input_seed + 1});
  const auto staged_a = stage(worker, a), staged_b = stage(worker, b);
  if (!staged_a || !staged_b) return;
  protocol::SequenceRequest request;
  const int last = staged_a->sets - 1;
  request.steps = {{a.id, 0}, {b.id, 0}, {a.id, last}, {b.id, 0}};
  request.repeat = 2;
  const auto answer = worker.sequence(request);
  ASSERT_TRUE(answer) << answer.failure.reason;
  EXPECT_EQ(answer->steps.size(), 2 * request.steps.size());
  EXPECT_TRUE(outputs_are_right(worker, a, *staged_a, {0, last}));
  EXPECT_TRUE(outputs_are_right(worker, b, *staged_b, {0}));
  worker.drop(a.id);
  worker.drop(b.id);
}

void add(const PluginUnderTest& plugin, const DeviceUnderTest& device, const OpUnderTest& op,
         const std::string& name, Test test) {
  add_test(plugin, device, std::string(op.contract->name()) + "_" + name,
           [&plugin, &device, &op, test] {
             for (const auto& combination : op.combinations) {
               Worker* worker = open_worker(plugin, device);
               ASSERT_NE(worker, nullptr);
               test(*worker, *op.contract, a_few(combination).front());
               if (::testing::Test::IsSkipped()) return;
             }
           });
}

bool has_constants(const OpUnderTest& op) {
  for (const auto& operand : op.contract->operands(op.combinations.front().problems.front())) {
    if (operand.role == Role::constant) return true;
  }
  return false;
}

}  // namespace

void register_repeats(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  for (const auto& op : device.ops) {
    if (op.is_collective || op.combinations.empty()) continue;
    add(plugin, device, op, "repeats_and_rings_agree", repeats_and_rings);
    add(plugin, device, op, "sets_with_own_inputs_get_own_outputs", own_inputs);
    add(plugin, device, op, "three_runs_are_bit_equal", three_runs);
    add(plugin, device, op, "a_sequence_equals_its_steps", sequence_of_steps);
    if (has_constants(op)) {
      add(plugin, device, op, "constants_copied_equal_constants_packed", copied_constants);
    }
  }
}

}  // namespace halmark::conformance
