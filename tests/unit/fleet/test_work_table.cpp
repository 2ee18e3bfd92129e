// Leases against a real server: who gets what, what happens to the lost, and that nothing is stored
// twice.
#include <gmock/gmock.h>

#include "fleet_database.hpp"

namespace halmark::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::int64_t> ids_of(const std::vector<WorkUnit>& units) {
  std::vector<std::int64_t> out;
  for (const WorkUnit& u : units) out.push_back(u.id);
  return out;
}

class WorkTableTest : public FleetDatabase {};

TEST_F(WorkTableTest, a_second_command_adds_nothing_that_is_there) {
  const auto first = table_->add(units(5), {}, need());
  const auto second = table_->add(units(7), {}, need());
  ASSERT_THAT(second, SizeIs(7));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin()));
  EXPECT_EQ(table_->counts(second).ready, 7);
}

TEST_F(WorkTableTest, a_claim_takes_one_batch_and_eight_units_at_most) {
  table_->add(units(10, "a"), {}, need());
  table_->add(units(3, "b", 1), {}, need());
  const Agent agent = enter("n1");
  const auto first = table_->claim(agent), second = table_->claim(agent),
             third = table_->claim(agent), fourth = table_->claim(agent);
  EXPECT_THAT(first.units, SizeIs(claim_max));
  EXPECT_THAT(second.units, SizeIs(2));
  EXPECT_THAT(third.units, SizeIs(3));
  EXPECT_EQ(third.units[0].batch, "b");
  EXPECT_EQ(third.units[0].cases, std::vector<KernelCase>{unit_case(1)});
  EXPECT_THAT(fourth.units, IsEmpty());
}

TEST_F(WorkTableTest, only_the_class_build_and_version_that_a_unit_needs_take_it) {
  table_->add(units(1), {}, need());
  EXPECT_THAT(table_->claim(enter("a", 60, {{"cpu-2b"}, {{"fake", "h1"}}, "1"})).units, IsEmpty());
  EXPECT_THAT(table_->claim(enter("b", 60, {{"cpu-1a"}, {{"fake", "h2"}}, "1"})).units, IsEmpty());
  EXPECT_THAT(table_->claim(enter("c", 60, {{"cpu-1a"}, {{"fake", "h1"}}, "2"})).units, IsEmpty());
  const Fitness more{{"device-9", "cpu-1a"}, {{"cuda", "h3"}, {"fake", "h1"}}, "1"};
  EXPECT_THAT(table_->claim(enter("d", 60, more)).units, SizeIs(1));
}

TEST_F(WorkTableTest, a_row_and_its_unit_are_stored_together_once) {
  const auto ids = table_->add(units(2), {}, need());
  const Agent agent = enter("n1");
  const auto claim = table_->claim(agent);
  finish(agent, claim.units[0]);
  EXPECT_THROW(finish(agent, claim.units[0]), AlreadyStored);
  EXPECT_THAT(store_->run_measurements(run_), SizeIs(1));
  const UnitCounts counts = table_->counts(ids);
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.leased, 1);
}

TEST_F(WorkTableTest, a_silent_agents_units_go_to_the_next_and_its_late_rows_nowhere) {
  table_->add(units(1), {}, need());
  const Agent dead = enter("n1", 0.1), next = enter("n2", 0.1);
  const auto lost = table_->claim(dead);
  table_->expire();
  EXPECT_THAT(table_->claim(next).units, IsEmpty()) << "before the lease ended";
  pass_time(1);
  table_->expire();
  const auto taken = table_->claim(next);
  ASSERT_EQ(ids_of(taken.units), ids_of(lost.units));
  EXPECT_GT(taken.units[0].attempt, lost.units[0].attempt);
  EXPECT_THROW(finish(dead, lost.units[0]), LostLease);
  EXPECT_THAT(store_->run_measurements(run_), IsEmpty());
  EXPECT_THAT(table_->renew(dead, lost.units), IsEmpty());
  finish(next, taken.units[0]);
  EXPECT_THROW(finish(dead, lost.units[0]), LostLease);
  EXPECT_THAT(store_->run_measurements(run_), SizeIs(1));
}

TEST_F(WorkTableTest, a_late_agent_keeps_what_nobody_has_taken) {
  table_->add(units(2), {}, need());
  const Agent late = enter("n1", 0.1);
  const auto held = table_->claim(late);
  pass_time(1);
  table_->expire();
  EXPECT_EQ(table_->renew(late, held.units), ids_of(held.units));
  EXPECT_THAT(table_->claim(enter("n2")).units, IsEmpty());
  finish(late, held.units[0]);
  pass_time(1);
  table_->expire();
  finish(late, held.units[1]);  // without having renewed it
  EXPECT_THAT(store_->run_measurements(run_), SizeIs(2));
}

TEST_F(WorkTableTest, released_units_are_free_at_once_and_cost_nothing) {
  const auto ids = table_->add(units(1), {}, need());
  const Agent agent = enter("n1");
  for (int i = 0; i < losses_max + 1; ++i) {
    const auto claim = table_->claim(agent);
    ASSERT_THAT(claim.units, SizeIs(1)) << i;
    table_->release(agent, claim.units);
  }
  EXPECT_EQ(table_->counts(ids).ready, 1);
}

TEST_F(WorkTableTest, what_costs_three_agents_fails_and_names_them) {
  const auto ids = table_->add(units(1), {}, need());
  for (const char* node : {"n1", "n2", "n3"}) {
    ASSERT_THAT(table_->claim(enter(node, 0.1)).units, SizeIs(1)) << node;
    pass_time(1);
    table_->expire();
  }
  EXPECT_THAT(table_->claim(enter("n4")).units, IsEmpty());
  const auto failed = table_->failed(ids);
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_THAT(failed[0].nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(failed[0].unit.cases, std::vector<KernelCase>{unit_case(1)});
  // Of two commands that see it one stores the row.
  int stored = 0;
  for (int i = 0; i < 2; ++i) {
    const Measurement row = row_of(failed[0].unit);
    store_->append_with(run_, std::span(&row, 1), [&](postgresql::Session& session) {
      if (WorkTable::give_up(session, ids[0])) ++stored;
    });
  }
  EXPECT_EQ(stored, 1);
}

TEST_F(WorkTableTest, tells_who_is_there_and_how_far_it_is) {
  table_->add(units(3), {}, need());
  Agent agent = enter("n1");
  const auto claim = table_->claim(agent, 2);
  finish(agent, claim.units[0]);
  agent.state = "measuring";
  agent.doing = claim.units[1].name;
  table_->say(agent);
  table_->leave(enter("n2"));
  const auto agents = table_->agents();
  ASSERT_THAT(agents, SizeIs(2));
  EXPECT_EQ(agents[0].doing, claim.units[1].name);
  EXPECT_EQ(agents[0].measured, 1);
  EXPECT_EQ(agents[0].offer.plugins, need().plugins);
  EXPECT_TRUE(is_present(agents[0]));
  EXPECT_FALSE(is_present(agents[1]));
  const auto runs = table_->runs();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].units.done, 1);
  EXPECT_EQ(runs[0].units.leased, 1);
  EXPECT_EQ(runs[0].units.ready, 1);
  EXPECT_EQ(runs[0].per_minute, 1);
  EXPECT_EQ(runs[0].need.classes, need().classes);
}

}  // namespace
}  // namespace halmark::fleet
