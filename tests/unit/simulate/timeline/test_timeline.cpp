// Timelines against times that are computed by hand.

#include "simulate/timeline/timeline_folds.hpp"
#include "small_timeline.hpp"

namespace halmark::simulate {
namespace {

using events::picoseconds;
using test::small_timeline;

TEST(Timeline, events_have_times_resources_figures_and_the_path_is_marked) {
  const Timeline timeline = small_timeline();
  ASSERT_EQ(timeline.events.size(), 4u);
  EXPECT_EQ(timeline.makespan_ps, picoseconds(1.009));
  const TimelineEvent& message = timeline.events[2];
  EXPECT_EQ(message.start_ps, picoseconds(0.003));
  EXPECT_EQ(message.end_ps, picoseconds(1.004));
  EXPECT_EQ(message.bytes, 1e9) << "of the task, not of the label";
  EXPECT_EQ(message.cause, 1u);
  EXPECT_TRUE(timeline.resources[message.resource].is_link);
  EXPECT_EQ(timeline.resources[message.resource].bytes, 1e9);
  EXPECT_EQ(timeline.resources[0].busy_ps, picoseconds(0.007));
  EXPECT_FALSE(timeline.events[0].is_critical);
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_TRUE(timeline.events[i].is_critical) << i;
  EXPECT_EQ(timeline.events[3].flops, 20);
}

TEST(Timeline, an_event_comes_behind_its_cause_however_tasks_were_added) {
  const Timeline timeline = small_timeline(true);
  events::Picoseconds critical = 0;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const TimelineEvent& event = timeline.events[i];
    if (event.cause != TimelineEvent::none) {
      EXPECT_LT(event.cause, i);
      EXPECT_EQ(timeline.events[event.cause].end_ps, event.start_ps);
    }
    if (event.is_critical) critical += event.end_ps - event.start_ps;
  }
  EXPECT_EQ(critical, timeline.makespan_ps);
}

TEST(Timeline, labels_fold_without_their_layer) {
  EXPECT_EQ(without_layer("layer 12 q_proj backward"), "q_proj backward");
  EXPECT_EQ(without_layer("layer norm"), "layer norm");
  EXPECT_EQ(without_layer("layer 12"), "layer 12");
  const auto folds = fold_by_label(small_timeline());
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[0].label, "activations");
  EXPECT_EQ(folds[1].label, "norm");
  EXPECT_EQ(folds[1].events, 3u);
  EXPECT_EQ(folds[1].busy_ps, picoseconds(0.010));
  EXPECT_EQ(folds[1].critical_ps, picoseconds(0.008));
  EXPECT_EQ(folds[1].flops, 40);
}

TEST(Timeline, parts_of_the_path_and_of_a_device_are_those_of_the_picture) {
  const Timeline timeline = small_timeline();
  const CriticalParts path = critical_parts(timeline);
  EXPECT_EQ(path.compute_ps, picoseconds(0.008));
  EXPECT_EQ(path.communication_ps, picoseconds(1.001));
  EXPECT_EQ(path.gap_ps, 0);
  // Device 0 computes 7 of 1009 ms; device 1 computes 3, sends 1001 and has nothing to do for 5.
  const DeviceParts parts = device_parts(timeline);
  EXPECT_EQ(parts.devices, 2u);
  EXPECT_NEAR(parts.compute, 10.0 / 2018, 1e-12);
  EXPECT_NEAR(parts.communication, 1001.0 / 2018, 1e-12);
  EXPECT_NEAR(parts.bubble, (1002.0 + 5) / 2018, 1e-12);
}

TEST(Timeline, one_time_phases_come_before_and_are_apart) {
  const Timeline whole = preceded_by(
      small_timeline(), std::vector<OneTimePhase>{{events::EventKind::boot, 1, "stated"},
                                                  {events::EventKind::compile, 2, "stated"}});
  EXPECT_EQ(whole.events.size(), 4u + 2 * 2);
  EXPECT_EQ(step_begin_ps(whole), picoseconds(3));
  EXPECT_EQ(whole.makespan_ps, picoseconds(4.009));
  EXPECT_EQ(critical_parts(whole).one_time_ps, picoseconds(3));
  EXPECT_EQ(critical_parts(whole).gap_ps, 0);
  EXPECT_NEAR(device_parts(whole).compute, 10.0 / 2018, 1e-12) << "of the step";
}

}  // namespace
}  // namespace halmark::simulate
