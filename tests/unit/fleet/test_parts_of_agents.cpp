// The parts of an agent one by one: beats, the spool on its disk, the campaign of a claim.
#include <gmock/gmock.h>

#include <thread>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "core/numeric/random.hpp"
#include "fleet/claimed_work.hpp"
#include "fleet/heartbeat.hpp"
#include "fleet/nodes/node_facts.hpp"
#include "fleet/nodes/sentinel.hpp"
#include "fleet/spool.hpp"
#include "fleet/watch.hpp"
#include "fleet_database.hpp"
#include "told_node.hpp"

namespace halmark::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Beats : public FleetDatabase {
 protected:
  template <class Condition>
  static bool await(Condition condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
};

TEST_F(Beats, keep_leases_and_say_what_is_done) {
  table_->add(units(2), {}, need());
  Agent me = enter("n1", 2);
  const auto claim = table_->claim(me);
  Heartbeat heartbeat(url_, me);
  heartbeat.hold(claim.units);
  ASSERT_THAT(heartbeat.held(), SizeIs(2));
  EXPECT_THAT(heartbeat.held()[0].cases, IsEmpty());
  EXPECT_EQ(heartbeat.held()[0].attempt, claim.units[0].attempt);
  me.state = "measuring";
  me.doing = "a case";
  heartbeat.say(me);
  EXPECT_TRUE(await([&] { return table_->agents().at(0).state == "measuring"; }));
  EXPECT_EQ(table_->agents().at(0).doing, "a case");
  // Twice as long as a lease, which each beat begins anew.
  std::this_thread::sleep_for(std::chrono::seconds(4));
  table_->expire();
  EXPECT_THAT(table_->claim(enter("n2")).units, IsEmpty());
  EXPECT_FALSE(heartbeat.has_lost());
  heartbeat.drop(claim.units[0].id);
  ASSERT_THAT(heartbeat.held(), SizeIs(1));
  EXPECT_EQ(heartbeat.held()[0].id, claim.units[1].id);
}

TEST_F(Beats, notice_that_a_unit_was_taken_away) {
  table_->add(units(2), {}, need());
  const Agent me = enter("n1", 0.3), other = enter("n2");
  auto claim = table_->claim(me);
  Heartbeat heartbeat(url_, me);
  pass_time(100);
  table_->expire();
  const auto taken = table_->claim(other, 1);
  ASSERT_THAT(taken.units, SizeIs(1));
  heartbeat.hold(claim.units);
  EXPECT_TRUE(await([&] { return heartbeat.has_lost(); }));
  heartbeat.drop(taken.units[0].id);
  EXPECT_TRUE(await([&] { return !heartbeat.has_lost(); })) << "what is dropped is no loss";
  heartbeat.drop(claim.units[0].id == taken.units[0].id ? claim.units[1].id : claim.units[0].id);
  heartbeat.hold({});
  EXPECT_FALSE(heartbeat.has_lost());
}

TEST(SpoolOfAgents, keeps_rows_with_what_they_finish_until_it_is_cleared) {
  const test::ScratchFolder folder;
  Spool spool(folder / "spool.db");
  EXPECT_TRUE(spool.is_empty());
  EXPECT_THAT(spool.all(), IsEmpty());
  spool.clear();
  Measurement row{.kernel_case = unit_case(4), .round = 2};
  row.status = Status::ok;
  row.duration_ns_median = 77;
  spool.keep(5, {.id = 11, .run = 3, .attempt = 2}, {row, row});
  spool.keep(6, {.id = 12, .run = 3, .attempt = 1}, {});
  EXPECT_FALSE(spool.is_empty());
  const auto kept = Spool(folder / "spool.db").all();
  ASSERT_THAT(kept, SizeIs(1)) << "a unit without rows was killed between the two";
  EXPECT_EQ(kept[0].agent, 5);
  EXPECT_EQ(kept[0].unit.id, 11);
  EXPECT_EQ(kept[0].unit.run, 3);
  EXPECT_EQ(kept[0].unit.attempt, 2);
  ASSERT_THAT(kept[0].rows, SizeIs(2));
  EXPECT_EQ(kept[0].rows[0].duration_ns_median, 77);
  EXPECT_EQ(kept[0].rows[0].kernel_case, unit_case(4));
  spool.clear();
  EXPECT_TRUE(spool.is_empty());
  EXPECT_THAT(folder.names(), testing::Not(testing::Contains("spool.db")));
}

TEST(ClaimedWork, is_one_round_with_the_settings_of_its_units) {
  NodeFacts facts = node(1e9);
  tune::NamedDevices devices = devices_of_node(facts);
  WorkTable::Claim claim;
  Stack stack;
  KernelCase in_stack = unit_case(2);
  in_stack.mode = CacheMode::in_stack;
  claim.units = {{.id = 40, .round = 6, .cases = {unit_case(1)}},
                 {.id = 41, .round = 6, .cases = {in_stack}, .stacks = {stack, stack}}};
  claim.settings.seed = 99;
  claim.settings.measure.wall_cap_s = 2.5;
  claim.settings.measure.sample_budget_s = 0.25;
  claim.settings.measure.limits.disturbed_samples = 0.5;
  const CampaignOptions options = campaign_for(claim, devices);
  EXPECT_EQ(options.rounds, 1);
  EXPECT_EQ(options.first_round, 6);
  EXPECT_EQ(options.wall_cap_s, 2.5);
  EXPECT_EQ(options.rule.budget_s, 0.25);
  EXPECT_EQ(options.thresholds.disturbed_samples.suspect, 0.5);
  EXPECT_EQ(options.seed, hash_combine(99, 40));
  EXPECT_EQ(options.plugin_path_by_backend.at("fake"), "/p.so");
  EXPECT_EQ(options.plugin_hash_by_backend.at("fake"), "h1");
  EXPECT_EQ(options.peaks, nullptr) << "it offers no CPU";
  EXPECT_THAT(options.stacks_of(in_stack), SizeIs(2));
  EXPECT_THAT(options.stacks_of(unit_case(1)), IsEmpty());
  EXPECT_THAT(options.stacks_of(unit_case(9)), IsEmpty());
}

TEST(ClaimedWork, on_the_processor_is_bounded_by_its_peaks) {
  NodeFacts facts = node(1e9);
  facts.plugins[0].description->name = "cpu";
  facts.plugins[0].description->devices.at(0).kind = "cpu";
  tune::NamedDevices devices = devices_of_node(facts);
  WorkTable::Claim claim;
  claim.units = {{.id = 1, .cases = {unit_case(1)}}};
  const CampaignOptions options = campaign_for(claim, devices);
  ASSERT_NE(options.peaks, nullptr);
  EXPECT_EQ(options.peaks, options.peaks_by_device.at("cpu:0"));
}

// Median 1000, median absolute deviation 20; 3 x 1.4826 x 20 / 1000 = 8.896 %.
TEST(SentinelWords, have_the_figure_the_move_and_what_is_usual) {
  const SentinelHistory past{{"copy", {960, 980, 1000, 1020, 1040}}};
  EXPECT_EQ(moved_sentinel(past, {{"copy", 1500}}),
            "copy takes 1.5 us, 50 % more than this node's 5 looks before (8.9 % are usual)");
  EXPECT_EQ(moved_sentinel({{"copy", std::vector<double>(6, 1000)}}, {{"copy", 800}}),
            "copy takes 0.8 us, 20 % less than this node's 6 looks before (3 % are usual)");
}

// Ten looks at 2 ms each; kernels in the words of a watch.
class WatchWords : public testing::Test {
 protected:
  Watch watch(double work_s, double again_s) {
    return {{.look =
                 [this] {
                   ++looks_;
                   return moved_;
                 },
             .doubt = [](std::int64_t, std::span<const Doubt>) {},
             .say = [this](const std::string& line) { said_.push_back(line); }},
            work_s,
            again_s};
  }
  static std::vector<Measurement> row() { return {Measurement{.kernel_case = unit_case(1)}}; }
  // Between two calls without one less time passes than a look is good for.
  static constexpr double good_s = 0.5;
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }
  std::string moved_;
  int looks_ = 0;
  std::vector<std::string> said_;
};

TEST_F(WatchWords, say_what_moved_how_many_rows_are_suspect_and_when_it_is_over) {
  Watch w = watch(1e6, good_s);
  EXPECT_TRUE(w.may_measure());
  w.measured(4, row());
  w.measured(4, row());
  moved_ = "copy takes 2 us";
  pause();
  w.has_no_work();
  EXPECT_THAT(said_,
              ElementsAre("W-NODE-01: copy takes 2 us; nothing is claimed until that is over",
                          "2 rows of run 4 are suspect for it"));
  EXPECT_FALSE(w.may_claim()) << "it was looked at just now";
  EXPECT_EQ(looks_, 2);
  pause();
  EXPECT_FALSE(w.may_claim());
  EXPECT_EQ(looks_, 3);
  EXPECT_THAT(said_, SizeIs(2)) << "it is no news";
  moved_.clear();
  pause();
  EXPECT_TRUE(w.may_claim());
  EXPECT_EQ(said_.back(), "this node is what it was again");
  EXPECT_EQ(w.unfit(), "");
}

TEST_F(WatchWords, a_look_is_good_for_so_long_and_no_longer) {
  Watch w = watch(good_s, 1e6);
  EXPECT_TRUE(w.may_measure());
  EXPECT_TRUE(w.may_claim());
  EXPECT_EQ(looks_, 1);
  pause();
  EXPECT_TRUE(w.may_measure());
  EXPECT_EQ(looks_, 2);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(WatchWords, without_work_what_was_measured_is_looked_at_when_it_is_time) {
  Watch w = watch(1e6, good_s);
  EXPECT_TRUE(w.may_measure());
  w.measured(1, row());
  w.has_no_work();
  EXPECT_EQ(looks_, 1);
  pause();
  w.has_no_work();
  EXPECT_EQ(looks_, 2);
}

}  // namespace
}  // namespace halmark::fleet
