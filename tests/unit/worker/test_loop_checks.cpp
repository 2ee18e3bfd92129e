// What a worker keeps and changes between samples: which executions, whose sets, which bytes, and
// that everything is put back.
#include "worker/checks/loop_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "table_device.hpp"

namespace halmark::worker {
namespace {

using namespace protocol;
using enum CacheMode;
using test::state;
using test::TableDevice;
const Problem& activation = test::softmax;

// Each execution writes its number into every byte of its output.
struct Counting {
  TableDevice device;
  std::unique_ptr<StagedKernel> kernel;
  int executions = 0;
  std::map<hm_buffer*, int> last;
  std::set<std::string> inputs_seen;

  explicit Counting(const Problem& problem, CacheMode mode, int sets, std::int64_t arena = 1 << 20)
      : device(problem, arena) {
    state.on_enqueue = [this](const hm_launch& launch) -> std::int32_t {
      for (std::uint64_t i = 0; i < launch.repeat; ++i) {
        const hm_arguments& a = launch.sets[i % launch.set_count];
        hm_buffer* const output = a.buffers[a.count - 1];
        last[output] = ++executions;
        std::memset(test::of(output).data, executions % 200, test::of(output).bytes);
        inputs_seen.emplace(reinterpret_cast<const char*>(test::of(a.buffers[0]).data),
                            test::of(a.buffers[0]).bytes);
      }
      return HM_OK;
    };
    kernel = device.stage(mode, sets);
  }
  std::byte at(const KeptOutput& kept, std::int64_t i) const {
    return device.context->kept_outputs.data()[kept.offset + i];
  }
  std::string input() const {
    const auto& buffer = test::of(kernel->ring().handles(0)[0]);
    return {reinterpret_cast<const char*>(buffer.data), buffer.bytes};
  }
};

// What is kept behind the waiting for `repeats` executions.
Measured after_wait(LoopChecks& checks, std::int64_t repeats, std::vector<Signal>&& signals = {}) {
  checks.check_after_wait(repeats, signals);
  Measured measured;
  checks.add_to(measured);
  measured.signals = std::move(signals);
  return measured;
}

Measured sampled(Counting& counting, const OutputChecks& wanted, std::int64_t samples,
                 std::int64_t repeat, double expected_ns) {
  LoopChecks checks(*counting.device.context, *counting.kernel, wanted, expected_ns);
  const auto step = make_timed_step(*counting.device.context, *counting.kernel, repeat);
  step->act_between(&checks);
  int set = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    EXPECT_TRUE(step->arrange(set));
    EXPECT_TRUE(step->execute());
  }
  EXPECT_TRUE(step->arrange(set));
  Measured measured;
  checks.add_to(measured);
  return measured;
}

TEST(LoopChecks, keep_every_execution_of_a_short_series_and_as_many_as_asked_of_a_long_one) {
  for (const std::int64_t samples : {0, 1, 9, 10, 11, 300}) {
    Counting counting(activation, rotate_const, 3);
    const auto measured = sampled(counting, {.executions = 10}, samples, 1, 1e9);
    EXPECT_EQ(measured.kept.size(), std::min<std::size_t>(static_cast<std::size_t>(samples), 10))
        << samples;
    std::set<std::int64_t> drawn;
    for (const auto& kept : measured.kept) drawn.insert(kept.sample);
    EXPECT_EQ(drawn.size(), measured.kept.size()) << "one sample twice";
    if (samples == 300) {
      EXPECT_GT(*drawn.rbegin(), 100) << "late ones are drawn too";
    }
  }
}

TEST(LoopChecks, copy_what_the_last_execution_of_the_set_wrote_whole) {
  Counting counting(activation, rotate_const, 3);
  const auto measured = sampled(counting, {.executions = 1}, 1, 1, 1e9);
  ASSERT_EQ(measured.kept.size(), 1u);
  const KeptOutput& kept = measured.kept[0];
  EXPECT_EQ(kept.bytes, 8 * 16 * 4);
  EXPECT_EQ(kept.begin, 0);
  EXPECT_FALSE(kept.at_once);
  EXPECT_FALSE(kept.overwritten);
  const auto& ring = counting.kernel->ring();
  const int expected = counting.last.at(ring.handles(kept.set).back());
  EXPECT_EQ(std::to_integer<int>(counting.at(kept, 0)), expected);
  EXPECT_EQ(std::to_integer<int>(counting.at(kept, kept.bytes - 1)), expected);
}

TEST(LoopChecks, of_an_output_above_256_KiB_keep_a_stretch_inside_it) {
  constexpr std::int64_t bytes = 1 << 20;
  Counting counting(test::copy(bytes), hot, 1, 16 << 20);
  const auto measured = sampled(counting, {.executions = 20}, 20, 1, 1e9);
  std::set<std::int64_t> begins;
  for (const auto& kept : measured.kept) {
    EXPECT_EQ(kept.bytes, 256 << 10);
    EXPECT_GE(kept.begin, 0);
    EXPECT_LE(kept.begin + kept.bytes, bytes);
    begins.insert(kept.begin);
  }
  EXPECT_GT(begins.size(), 3u);
}

TEST(LoopChecks, change_one_row_for_one_execution_and_put_it_back) {
  Counting counting(activation, hot, 1);
  const std::string before = counting.input();
  counting.inputs_seen.clear();
  const auto measured = sampled(counting, {.rows = 3}, 60, 1, 1e6);
  EXPECT_EQ(measured.overwritten.size(), 3u);
  EXPECT_GE(counting.inputs_seen.size(), 2u);
  EXPECT_LE(counting.inputs_seen.size(), 4u);
  EXPECT_EQ(counting.input(), before);
  for (const std::string& seen : counting.inputs_seen) {
    int rows = 0;
    for (std::size_t r = 0; r < 8; ++r)
      rows += seen.substr(r * 64, 64) != before.substr(r * 64, 64);
    EXPECT_LE(rows, 1);
  }
  for (const auto& kept : measured.kept) {
    ASSERT_TRUE(kept.overwritten);
    const auto& row = measured.overwritten.at(static_cast<std::size_t>(*kept.overwritten));
    EXPECT_EQ(kept.begin, row.row * 64) << "the output of that row";
    EXPECT_EQ(kept.bytes, 64);
  }
}

using Seen = std::vector<std::string>;

// Two operands of 8 x 16 and what the samples on them take, by the number of the sample.
struct Redrawing {
  Counting counting{activation, hot, 1};
  std::vector<TimedSample> series;
  Measured measured;

  // `slow`: a sample on other inputs than the staged ones takes so much longer.
  void run(std::int64_t repeat, double plain_ns, double slow_ns) {
    const auto now = [&] { return counting.input(); };
    const std::string staged = now();
    LoopChecks checks(*counting.device.context, *counting.kernel, {.redraws = 6}, 1e6);
    const auto step = make_timed_step(*counting.device.context, *counting.kernel, repeat);
    step->act_between(&checks);
    int set = 0;
    for (int i = 0; i < 80; ++i) {
      EXPECT_TRUE(step->arrange(set));
      const bool is_new = now() != staged;
      if (is_new) seen.push_back(now());
      EXPECT_TRUE(step->execute());
      series.emplace_back().wall_ns = plain_ns + (is_new ? slow_ns : 0);
    }
    step->act_between(nullptr);
    checks.end_loop(series, measured.signals);
    checks.add_to(measured);
    EXPECT_EQ(now(), staged);
    before = staged;
  }
  double cost() const {
    const auto found = std::ranges::find(measured.signals, "new_inputs_cost", &Signal::name);
    return found == measured.signals.end() ? 0 : found->value.value_or(-1);
  }
  Seen seen;
  std::string before;
};

TEST(LoopChecks, write_every_row_anew_in_front_of_some_samples_and_put_it_back) {
  for (int i = 0; i < 30; ++i) {  // one in seven drew an amount twice
    Redrawing drawing;
    drawing.run(1, 100e3, 0);
    EXPECT_EQ(std::set<std::string>(drawing.seen.begin(), drawing.seen.end()).size(), 6u);
  }
  Redrawing redrawing;
  redrawing.run(1, 100e3, 0);
  EXPECT_EQ(redrawing.seen.size(), 6u);
  for (const std::string& seen : redrawing.seen) {
    for (std::size_t r = 0; r < 8; ++r) {
      EXPECT_NE(seen.substr(r * 64, 64), redrawing.before.substr(r * 64, 64)) << r;
    }
  }
  int kept = 0;
  for (const auto& output : redrawing.measured.kept) kept += output.overwritten ? 1 : 0;
  EXPECT_EQ(kept, 6);
  for (const auto& row : redrawing.measured.overwritten) EXPECT_TRUE(row.whole);
  EXPECT_DOUBLE_EQ(redrawing.cost(), 1);
}

// What caches and waking may take is none of it; one of several repeats alone is on unseen inputs.
TEST(LoopChecks, say_what_an_execution_on_new_inputs_costs) {
  struct Case {
    std::int64_t repeat;
    double plain_ns, slow_ns, cost;
  };
  for (const Case& c : {Case{1, 100e3, 14e3, 1}, Case{1, 100e3, 300e3, 3.85},
                        Case{10, 100e3, 100e3, 9.5}, Case{10, 100e3, 15e3, 1}}) {
    Redrawing redrawing;
    redrawing.run(c.repeat, c.plain_ns, c.slow_ns);
    EXPECT_NEAR(redrawing.cost(), c.cost, 0.02) << c.repeat << ' ' << c.slow_ns;
  }
}

TEST(LoopChecks, spend_no_executions_of_their_own_on_slow_kernels) {
  for (const double expected_ns : {1e6, 3e6}) {
    Counting counting(activation, hot, 1);
    const int before = counting.executions;
    const auto measured = sampled(counting, {.executions = 4, .rows = 2}, 20, 1, expected_ns);
    const int more = counting.executions - before - 20;
    EXPECT_EQ(more > 0, expected_ns < 2e6);
    EXPECT_EQ(measured.overwritten.empty(), expected_ns > 2e6);
    EXPECT_GE(measured.kept.size(), 4u);
  }
}

TEST(LoopChecks, behind_wait_lines_of_each_output_that_was_to_be_written_come_first) {
  Counting counting(activation, rotate_const, 3);
  LoopChecks checks(*counting.device.context, *counting.kernel, {.rows = 1}, 1e6);
  const Measured measured = after_wait(checks, 6);
  std::set<int> sets;
  for (const auto& kept : measured.kept) {
    EXPECT_TRUE(kept.at_once);
    EXPECT_NE(counting.at(kept, 0), std::byte{0xFF});
    if (!kept.overwritten) sets.insert(kept.set);
  }
  EXPECT_EQ(sets, (std::set<int>{0, 1, 2}));
  EXPECT_TRUE(measured.kept.back().overwritten);
  // The host sees this memory: nobody can wait for its reading.
  ASSERT_EQ(measured.signals.size(), 1u);
  EXPECT_EQ(measured.signals[0].name, "cpu_share_after_wait");
}

// Behind a series that ended soon, where an execution is short.
TEST(LoopChecks, keep_further_executions_until_there_are_as_many_as_asked) {
  for (const double expected_ns : {0.9e6, 1.1e6}) {
    Counting counting(activation, rotate_const, 3);
    LoopChecks checks(*counting.device.context, *counting.kernel, {.executions = 20}, expected_ns);
    int next_set = 1;
    for (int sample = 0; sample < 6; ++sample) {
      ASSERT_TRUE(counting.kernel->run(0, 1).ok());
      ASSERT_TRUE(checks.act(0, 1, next_set).ok());
    }
    std::set<std::int64_t> kept;
    for (const auto& output : after_wait(checks, 1).kept) {
      if (!output.at_once) kept.insert(output.sample);
    }
    EXPECT_EQ(kept.size(), expected_ns < 1e6 ? 20u : 6u);
  }
}

// Those further ones are drawn numbers of executions, of which none is longer than a sample.
TEST(LoopChecks, keep_executions_behind_one_to_as_many_repeats_as_a_sample_has) {
  Counting counting(activation, rotate_const, 3);
  std::set<std::uint64_t> repeats;
  const auto count_executions = state.on_enqueue;
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    repeats.insert(launch.repeat);
    return launch.repeat <= 5 ? count_executions(launch) : HM_INVALID_ARGUMENT;
  };
  LoopChecks checks(*counting.device.context, *counting.kernel, {.executions = 60}, 1e3);
  after_wait(checks, 5);
  EXPECT_EQ(repeats, (std::set<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(LoopChecks, show_poison_where_repeats_were_skipped) {
  Counting counting(activation, rotate_const, 3);
  state.on_enqueue = [&](const hm_launch& launch) -> std::int32_t {
    hm_buffer* const output = launch.sets[0].buffers[launch.sets[0].count - 1];
    std::memset(test::of(output).data, 1, test::of(output).bytes);
    return HM_OK;
  };
  LoopChecks checks(*counting.device.context, *counting.kernel, {}, 1e6);
  int poisoned = 0;
  for (const auto& kept : after_wait(checks, 3).kept) {
    poisoned += counting.at(kept, 0) == std::byte{0xFF};
  }
  EXPECT_GT(poisoned, 0);
}

}  // namespace
}  // namespace halmark::worker
