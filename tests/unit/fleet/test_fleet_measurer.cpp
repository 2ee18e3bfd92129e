// What tune asks of a fleet, answered by agents that are lines of this test.
#include "core/numeric/cast.hpp"
#include "fleet/fleet_measurer.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "fleet/fleet.hpp"
#include "fleet_database.hpp"

namespace halmark::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FleetMeasurerTest : public FleetDatabase {
 protected:
  void SetUp() override {
    FleetDatabase::SetUp();
    if (IsSkipped()) return;
    cases_ = {unit_case(1), unit_case(2)};
    measurer_ = std::make_unique<FleetMeasurer>(
        *store_, FleetOptions{.need = need(),
                              .say = [this](const std::string& line) { said_.push_back(line); },
                              .poll_s = 0.02,
                              .pending_notice_s = 0.2});
  }
  CampaignOptions order(int rounds = 1) {
    CampaignOptions out;
    out.first_round = 3;
    out.rounds = rounds;
    out.seed = 9;
    out.progress = [this](const CampaignProgress& p) { progress_.push_back(p); };
    return out;
  }
  std::vector<Measurement> measured(const CampaignOptions& options) {
    return measurer_->measure(run_, cases_, settings_, options);
  }
  // Takes so many units, one at a time, and stores a row of each.
  void work(int units) {
    const auto store = open_shared_store(url_, "agent:1");
    WorkTable table(store->session());
    Agent me{.node = "n1", .pid = 1, .offer = need(), .state = "idle"};
    me.id = table.enter(me);
    while (units > 0) {
      const auto claim = table.claim(me, 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(claim.units.empty() ? 5 : 60));
      for (const WorkUnit& unit : claim.units) {
        Measurement row = row_of(unit);
        const auto m = as_double(unit.cases.at(0).problem.params.at("m"));
        row.duration_ns_median = 100 * m + unit.round;
        store->append_with(unit.run, std::span(&row, 1), [&](postgresql::Session& session) {
          WorkTable::finish(session, {.agent = me.id, .unit = unit.id, .attempt = unit.attempt});
        });
        --units;
      }
    }
  }
  static std::vector<double> times(const std::vector<Measurement>& rows) {
    std::vector<double> out;
    for (const Measurement& row : rows) out.push_back(row.duration_ns_median);
    return out;
  }

  std::vector<KernelCase> cases_;
  MeasureSettings settings_;
  std::unique_ptr<FleetMeasurer> measurer_;
  std::vector<std::string> said_;
  std::vector<CampaignProgress> progress_;
};

TEST_F(FleetMeasurerTest, gives_the_rows_of_all_rounds_in_their_order) {
  const std::jthread agent([this] { work(4); });
  const auto rows = measured(order(2));
  EXPECT_THAT(times(rows), ElementsAre(103, 203, 104, 204));
  ASSERT_FALSE(progress_.empty());
  for (const CampaignProgress& p : progress_) {
    EXPECT_EQ(p.total, 4);
    EXPECT_EQ(p.resumed, 0);
  }
  EXPECT_EQ(progress_.back().done, 4);
  EXPECT_EQ(progress_.back().current, "0 leased, 0 waiting");
  EXPECT_DOUBLE_EQ(progress_.back().left_s.value_or(-1), 0) << "nothing is left";
  EXPECT_GT(progress_.back().elapsed_s, 0.2) << "four units of 60 ms";
  EXPECT_LT(progress_.back().elapsed_s, 60);
}

// After one of three with 60 ms each, two are left at the same pace.
TEST_F(FleetMeasurerTest, says_how_long_it_will_take_by_the_pace_so_far) {
  cases_.push_back(unit_case(3));
  const std::jthread agent([this] { work(3); });
  (void)measured(order());
  for (const CampaignProgress& p : progress_) {
    if (p.done == 0) {
      EXPECT_FALSE(p.left_s);
    } else {
      ASSERT_TRUE(p.left_s);
      EXPECT_NEAR(*p.left_s, p.elapsed_s * as_double(3 - p.done) / as_double(p.done), 1e-9);
    }
  }
}

TEST_F(FleetMeasurerTest, asks_for_what_is_not_stored_and_gives_what_is) {
  CampaignOptions asked = order();
  Measurement known{.kernel_case = cases_[0], .round = 3};
  known.duration_ns_median = 7;
  asked.lookup = [&](const KernelCase& k, int) {
    return k == cases_[0] ? std::optional(known) : std::nullopt;
  };
  {
    const std::jthread agent([this] { work(1); });
    EXPECT_THAT(times(measured(asked)), ElementsAre(7, 203));
  }
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.back().total, 2);
  EXPECT_EQ(progress_.back().resumed, 1);
  EXPECT_EQ(progress_.back().done, 2);
  asked.lookup = [&](const KernelCase&, int) { return std::optional(known); };
  EXPECT_THAT(times(measured(asked)), ElementsAre(7, 7)) << "nobody is asked";
}

TEST_F(FleetMeasurerTest, of_what_was_stopped_has_no_row) {
  CampaignOptions asked = order();
  int looks = 0;
  asked.should_stop = [&] { return ++looks > 3; };
  EXPECT_THAT(measured(asked), IsEmpty());
  EXPECT_EQ(looks, 4);
  ASSERT_THAT(progress_, SizeIs(1)) << "once, as nothing changed";
  EXPECT_EQ(progress_[0].current, "0 leased, 2 waiting");
}

TEST_F(FleetMeasurerTest, of_what_cost_three_agents_has_a_row_that_names_them) {
  cases_.resize(1);
  const std::vector<WorkUnit> units = units_of(run_, cases_, order());
  table_->add(units, {.measure = settings_, .seed = 9}, need());
  for (const char* node : {"n1", "n2", "n3"}) {
    ASSERT_THAT(table_->claim(enter(node, 0.1)).units, SizeIs(1)) << node;
    pass_time(1);
    table_->expire();
  }
  for (int i = 0; i < 2; ++i) {
    const auto rows = measured(order());
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].status, Status::worker_lost);
    EXPECT_EQ(rows[0].reason, "3 agents were lost while they measured it: n1, n2, n3");
    EXPECT_EQ(rows[0].round, 3);
    EXPECT_EQ(rows[0].kernel_case, cases_[0]);
  }
  EXPECT_THAT(store_->run_measurements(run_), SizeIs(1)) << "stored once";
}

TEST_F(FleetMeasurerTest, says_once_why_nobody_takes_what_waits) {
  CampaignOptions asked = order();
  const auto begin = SteadyClock::now();
  double said_after_s = 0;
  asked.should_stop = [&] {
    if (!said_.empty() && said_after_s == 0) said_after_s = seconds_since(begin);
    return seconds_since(begin) > 0.6;
  };
  (void)measured(asked);
  EXPECT_THAT(said_, ElementsAre("halmark: 2 units of work wait: no agent is there: start 'halmark "
                                 "agent URL' on a machine of class cpu-1a\n"));
  EXPECT_GT(said_after_s, 0.2);
}

TEST_F(FleetMeasurerTest, says_nothing_where_an_agent_could_take_it) {
  enter("n1");
  CampaignOptions asked = order();
  const auto begin = SteadyClock::now();
  asked.should_stop = [&] { return seconds_since(begin) > 0.5; };
  (void)measured(asked);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(FleetMeasurerTest, begins_a_run_once_unless_it_is_to_be_anew) {
  const RunInfo info{.command = "c",
                     .plan_hash = "q",
                     .plan_text = "{}",
                     .fingerprint = "f@fleet",
                     .tool_version = "1",
                     .tool_build = "b",
                     .started_utc = "2026-11-27T00:00:00Z"};
  const auto first = measurer_->begin(info, false);
  EXPECT_FALSE(first.is_found);
  const auto again = measurer_->begin(info, false);
  EXPECT_TRUE(again.is_found);
  EXPECT_EQ(again.id, first.id);
  const auto anew = measurer_->begin(info, true);
  EXPECT_FALSE(anew.is_found);
  EXPECT_NE(anew.id, first.id);
}

TEST_F(FleetMeasurerTest, is_had_of_a_shared_store_alone) {
  EXPECT_NE(measurer(*store_, "cpu-1a@x", {}, {}), nullptr);
  const test::ScratchFolder folder;
  const auto file = open_store(folder / "results.db");
  const Error error = test::error_of([&] { (void)measurer(*file, "cpu-1a@x", {}, {}); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), "--fleet");
}

TEST(WhyUnclaimed, is_of_the_last_agent_that_does_not_fit) {
  const Fitness need{.classes = {"cpu-1a", "device-2b"}, .plugins = {{"cpu", "h1"}}, .tool = "1"};
  const auto agent = [](const char* node, Fitness offer, const char* state = "idle") {
    Agent out{.node = node, .offer = std::move(offer), .state = state};
    out.doing = "moved";
    return out;
  };
  const auto why = [&](std::vector<Agent> agents) { return pending_reason(need, agents); };
  EXPECT_EQ(why({agent("a", {{"cpu-1a"}, {}, "1"})}),
            "no agent has the class cpu-1a + device-2b: a has cpu-1a");
  EXPECT_EQ(why({agent("a", need, "unfit")}), "a is unfit: moved");
  EXPECT_EQ(why({agent("a", need, "unfit"), agent("b", {need.classes, {{"cpu", "h2"}}, "1"})}),
            "b has another build of the plugin of backend cpu");
  EXPECT_EQ(why({agent("b", {need.classes, {}, "1"})}), "b has no plugin of backend cpu");
  EXPECT_EQ(why({agent("b", {need.classes, need.plugins, "2"})}),
            "b runs halmark 2, and this is 1");
  EXPECT_EQ(why({agent("a", need, "left")}),
            "no agent is there: start 'halmark agent URL' on a machine of class cpu-1a + "
            "device-2b");
  EXPECT_EQ(why({agent("a", {{"cpu-1a"}, {}, "1"}), agent("b", need)}), "");
}

}  // namespace
}  // namespace halmark::fleet
