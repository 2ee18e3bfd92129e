// Labels of samples from scripted counters: time moves and others disturb only when the script says
// so.
#include "measure/sampling/chunk_labels.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "measure/sampling/gbench.hpp"

namespace halmark {
namespace {

constexpr auto clean = SampleLabel::clean;

// What happens to one sample besides its own work.
struct Event {
  double delay_ns = 0;  // waits for a CPU: wall time without CPU time
  double stop_ns = 0;   // is stopped: the same, and nobody counts it as waiting
  double extra_ns = 0;  // works longer by itself
};

// A process of one thread.
class Script : public ClockSource, public SampleStep, public DisturbanceCounters {
 public:
  Script(double sample_ns, std::map<int, Event> events)
      : sample_ns_(sample_ns), events_(std::move(events)) {}
  double wall_ns() override { return wall_; }
  double cpu_ns() override { return cpu_; }
  bool arrange(int& set) override {
    set = 0;
    return true;
  }
  bool execute() override {
    const Event event = events_.contains(calls_) ? events_[calls_] : Event{};
    ++calls_;
    work(sample_ns_ + event.extra_ns);
    wall_ += event.delay_ns + event.stop_ns;
    delay_ += event.delay_ns;
    if (event.delay_ns > 0) ++switches_;
    return true;
  }
  CounterReading read() override {
    ++readings;
    CounterReading out{.wall_ns = wall_, .cpu_ns = cpu_, .thread_cpu_ns = cpu_};
    if (counts_delay) out.run_delay_ns = delay_;
    out.involuntary_switches = switches_;
    return out;
  }
  int readings = 0;
  bool counts_delay = true;

 private:
  void work(double ns) {
    wall_ += ns;
    cpu_ += ns;
  }
  double sample_ns_;
  std::map<int, Event> events_;
  int calls_ = 0;
  double wall_ = 1e9, cpu_ = 0, delay_ = 0, switches_ = 0;
};

SampleSeries take(Script& script, std::int64_t count, ChunkRule chunk = {}) {
  const auto rule = make_count(count);
  return take_samples({.name = "chunks", .first_block = count, .counters = &script, .chunk = chunk},
                      script, *rule, script);
}

// Runs of one label: "10 clean, 8 disturbed".
std::string labels_of(const SampleSeries& series) {
  std::string out;
  int length = 0;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const SampleLabel label = series.samples[i].label;
    ++length;
    if (i + 1 < series.samples.size() && series.samples[i + 1].label == label) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(length) +
           (label == clean                    ? " clean"
            : label == SampleLabel::disturbed ? " disturbed"
                                              : " unlabelled");
    length = 0;
  }
  return out;
}

std::string labels(Script script, std::int64_t count, ChunkRule chunk = {}) {
  return labels_of(take(script, count, chunk));
}

TEST(ChunkLabels, hold_for_a_chunk_of_half_a_millisecond) {
  // Ten samples of 50 us are a chunk; the 15th waits for 100 us.
  EXPECT_EQ(labels(Script(50e3, {{14, {.delay_ns = 100e3}}}), 30),
            "10 clean, 8 disturbed, 12 clean");
  EXPECT_EQ(labels(Script(50e3, {}), 30), "30 clean");
}

// 0.9 of half a millisecond is none yet: the chunk goes on to 540 us; 1.05 of it is one.
TEST(ChunkLabels, end_with_the_first_sample_beyond_half_a_millisecond) {
  EXPECT_EQ(labels(Script(45e3, {{11, {.delay_ns = 100e3}}}), 30), "12 disturbed, 18 clean");
  EXPECT_EQ(labels(Script(75e3, {{7, {.delay_ns = 100e3}}}), 20), "7 clean, 6 disturbed, 7 clean");
}

TEST(ChunkLabels, are_paid_with_one_percent_of_the_time) {
  const ChunkRule rule{.disturbed_share = 0.25, .counts_lost_cpu = false};
  EXPECT_EQ(affordable(rule, 0).shortest_ns, 500e3);
  EXPECT_EQ(affordable(rule, 4.5e3).shortest_ns, 500e3);
  EXPECT_DOUBLE_EQ(affordable(rule, 7.5e3).shortest_ns, 750e3);
  EXPECT_EQ(affordable(rule, 7.5e3).disturbed_share, 0.25);
  EXPECT_FALSE(affordable(rule, 7.5e3).counts_lost_cpu);
}

TEST(ChunkLabels, of_long_samples_are_their_own) {
  EXPECT_EQ(labels(Script(2e6, {{1, {.delay_ns = 200e3}}}), 3), "1 clean, 1 disturbed, 1 clean");
  // One switch of 50 us in 60 ms moves it by 0.1 %.
  EXPECT_EQ(labels(Script(60e6, {{1, {.delay_ns = 50e3}}}), 3), "3 clean");
}

// The share is of the chunk's wall time: 500 us of work and x of delay.
TEST(ChunkLabels, divide_at_one_percent_of_the_chunk) {
  for (const double stop : {0.0, 1.0}) {
    const auto with_share = [&](double share) {
      const double ns = 500e3 * share / (1 - share);
      return labels(Script(500e3, {{0, {.delay_ns = (1 - stop) * ns, .stop_ns = stop * ns}}}), 2);
    };
    EXPECT_EQ(with_share(0.9 * 0.01), "2 clean") << stop;
    EXPECT_EQ(with_share(1.5 * 0.01), "1 disturbed, 1 clean") << stop;
  }
  const auto under = [](double limit) {
    return labels(Script(500e3, {{0, {.delay_ns = 20e3}}}), 1, {.disturbed_share = limit});
  };
  EXPECT_EQ(under(0.03), "1 disturbed");
  EXPECT_EQ(under(0.05), "1 clean") << "the limit is the caller's";
}

TEST(ChunkLabels, never_follow_from_how_long_a_sample_took) {
  EXPECT_EQ(labels(Script(50e3, {{4, {.extra_ns = 5e6}}, {17, {.extra_ns = 800e3}}}), 30),
            "30 clean");
}

TEST(ChunkLabels, of_a_short_rest_are_those_of_the_chunk_that_it_joins) {
  // 25 samples: chunks of 10 and 10, and a rest of 5 with a delay.
  EXPECT_EQ(labels(Script(50e3, {{22, {.delay_ns = 100e3}}}), 25), "10 clean, 15 disturbed");
  // What is little beside both is clean.
  EXPECT_EQ(labels(Script(50e3, {{22, {.delay_ns = 5e3}}}), 25), "25 clean");
  // A block that is shorter than a chunk is one.
  EXPECT_EQ(labels(Script(50e3, {{2, {.delay_ns = 5e3}}}), 4), "4 disturbed");
}

TEST(ChunkLabels, do_not_count_lost_cpu_time_where_threads_sleep_by_themselves) {
  const Event sleeps{.stop_ns = 400e3};
  EXPECT_EQ(labels(Script(100e3, {{0, sleeps}}), 1), "1 disturbed");
  EXPECT_EQ(labels(Script(100e3, {{0, sleeps}}), 1, {.counts_lost_cpu = false}), "1 clean");
  EXPECT_EQ(labels(Script(100e3, {{0, {.delay_ns = 400e3}}}), 1, {.counts_lost_cpu = false}),
            "1 disturbed");
}

TEST(ChunkLabels, know_lost_time_although_the_kernel_counts_no_delay) {
  Script script(100e3, {{0, {.delay_ns = 400e3}}});
  script.counts_delay = false;
  EXPECT_EQ(labels(script, 1), "1 disturbed");
}

TEST(ChunkLabels, are_absent_without_counters) {
  Script script(50e3, {});
  const auto rule = make_count(5);
  const SampleSeries series =
      take_samples({.name = "unlabelled", .first_block = 5}, script, *rule, script);
  EXPECT_EQ(labels_of(series), "5 unlabelled");
  EXPECT_FALSE(series.clean);
  EXPECT_EQ(script.readings, 0);
}

TEST(ChunkLabels, cost_one_reading_per_border) {
  Script script(50e3, {});
  take(script, 40);
  EXPECT_EQ(script.readings, 5);
  Script longer(50e3, {});
  take(longer, 40, {.shortest_ns = 1e6});
  EXPECT_EQ(longer.readings, 3);
}

TEST(ChunkLabels, sum_the_counters_of_clean_chunks_alone) {
  Script script(100e3, {{2, {.delay_ns = 4e3}}, {7, {.delay_ns = 300e3}}});
  const SampleSeries series = take(script, 15);
  EXPECT_EQ(labels_of(series), "5 clean, 3 disturbed, 7 clean");
  ASSERT_TRUE(series.clean);
  EXPECT_EQ(series.clean->run_delay_ns, 4e3);
  EXPECT_EQ(series.clean->involuntary_switches, 1);
  EXPECT_DOUBLE_EQ(series.clean->wall_ns, 12 * 100e3 + 4e3);
  EXPECT_DOUBLE_EQ(series.clean->cpu_ns, 12 * 100e3);
  Script stopped(100e3, {{0, {.stop_ns = 1e6}}});
  EXPECT_FALSE(take(stopped, 1).clean);
}

// The rule hears of disturbed samples as such: ten clean ones are wanted, and three chunks of ten
// are not.
TEST(ChunkLabels, decide_what_a_stop_rule_looks_at) {
  Script script(50e3, {{3, {.delay_ns = 60e3}}});
  const auto rule = make_stop_rule({.min_samples = 10});
  const SampleSeries series = take_samples(
      {.name = "rule", .expected_sample_ns = 500e3, .first_block = 10, .counters = &script}, script,
      *rule, script);
  EXPECT_EQ(series.samples.size(), 20u);
  EXPECT_EQ(series.stop_rule, protocol::StopReason::ci_width);
}

TEST(CounterReading, growth_of_what_a_lost_thread_took_along_is_not_negative) {
  const CounterReading before{.wall_ns = 10, .run_delay_ns = 7, .involuntary_switches = 3};
  const CounterReading after{.wall_ns = 30, .run_delay_ns = 2, .involuntary_switches = {}};
  const CounterReading grown = growth(before, after);
  EXPECT_EQ(grown.wall_ns, 20);
  EXPECT_EQ(grown.run_delay_ns, 0);
  EXPECT_FALSE(grown.involuntary_switches) << "absent is not clean";
  EXPECT_FALSE(sum(grown, before).involuntary_switches);
  EXPECT_EQ(disturbed_share({}, {}), 0);
}

// A host thread and the thread of its device take turns on one CPU: each waits while the other
// computes. Only what neither used can be a neighbour's.
TEST(ChunkLabels, threads_of_one_process_do_not_disturb_each_other_on_their_only_cpu) {
  const CounterReading chunk{.wall_ns = 1e6, .cpu_ns = 0.98e6, .run_delay_ns = 0.5e6};
  ChunkRule rule{.counts_lost_cpu = false};
  EXPECT_DOUBLE_EQ(disturbed_share(chunk, rule), 0.5);
  rule.is_on_one_cpu = true;
  EXPECT_NEAR(disturbed_share(chunk, rule), 0.02, 1e-12);
  const CounterReading beside_a_neighbour{.wall_ns = 1e6, .cpu_ns = 0.6e6, .run_delay_ns = 0.3e6};
  EXPECT_DOUBLE_EQ(disturbed_share(beside_a_neighbour, rule), 0.3);
}

// Ten of a thousand microseconds are one percent; without any delay the share is nothing at all.
TEST(ChunkLabels, of_just_one_percent_are_clean) {
  EXPECT_EQ(labels(Script(990e3, {{0, {.delay_ns = 10e3}}}), 1), "1 clean");
  EXPECT_EQ(labels(Script(990e3, {{0, {.delay_ns = 10.1e3}}}), 1), "1 disturbed");
  EXPECT_EQ(disturbed_share({.wall_ns = 1e6, .cpu_ns = 1e6, .run_delay_ns = 0}, {}), 0);
  EXPECT_EQ(disturbed_share({.wall_ns = 1e6, .cpu_ns = 2e6, .run_delay_ns = 0}, {}), 0);
  EXPECT_EQ(disturbed_share({.wall_ns = 0, .cpu_ns = 0, .run_delay_ns = 1}, {}), 0);
}

// Whoever adds a sample hears whether a chunk ended with it, which then has its label.
TEST(ChunkLabels, say_when_a_chunk_has_ended) {
  Script script(0, {});
  std::vector<TimedSample> samples;
  ChunkLabels chunks(&script, {.shortest_ns = 100}, samples);
  chunks.begin_block();
  const auto add = [&](double begin_ns, double wall_ns) {
    TimedSample sample;
    sample.begin_ns = begin_ns;
    sample.wall_ns = wall_ns;
    samples.push_back(sample);
    return chunks.add_newest();
  };
  EXPECT_FALSE(add(0, 60));
  EXPECT_TRUE(add(60, 40)) << "100 ns from the first one's beginning";
  EXPECT_EQ(samples[0].label, clean);
  EXPECT_FALSE(add(150, 99)) << "from its own beginning";
  EXPECT_TRUE(add(250, 1));
  ChunkLabels none(nullptr, {}, samples);
  none.begin_block();
  EXPECT_FALSE(none.add_newest());
}

}  // namespace
}  // namespace halmark
