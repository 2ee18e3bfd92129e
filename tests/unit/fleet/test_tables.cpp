// Tables of earlier versions, and roles with the least rights.
#include <gmock/gmock.h>

#include "fleet_database.hpp"

namespace halmark::fleet {
namespace {

class FleetTables : public FleetDatabase {};

TEST_F(FleetTables, of_an_earlier_version_are_brought_forward_and_keep_what_they_have) {
  table_->add(units(3), {}, need());
  const Agent before = enter("before");
  auto* server = test::PostgresServer::get();
  ASSERT_TRUE(server->sql(url_, "ALTER TABLE halmark.agent DROP COLUMN facts, DROP COLUMN places"));
  EXPECT_FALSE(WorkTable::is_of_this_version(store_->session()));
  EXPECT_TRUE(WorkTable::agents_with_places(store_->session()).empty());
  WorkTable again(store_->session());
  EXPECT_TRUE(WorkTable::is_of_this_version(store_->session()));
  EXPECT_EQ(again.claim(before).units.size(), 3u);
  // An agent of that version told nothing of its machine.
  EXPECT_TRUE(WorkTable::agents_with_places(store_->session()).empty());
  Agent now{.node = "now", .pid = 1, .offer = need(), .state = "idle"};
  now.facts = "{\"machine\":{}}";
  now.places = {{"fake:0", "cpu-1a"}};
  now.id = again.enter(now);
  const auto told = WorkTable::agents_with_places(store_->session());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].places, now.places);
  EXPECT_EQ(WorkTable::facts(store_->session(), now.id), "{\"machine\": {}}");
}

TEST_F(FleetTables, need_no_right_to_make_any_once_they_are_there) {
  auto* server = test::PostgresServer::get();
  table_->add(units(1), {}, need());
  ASSERT_TRUE(server->sql(
      url_,
      "DO $$ BEGIN CREATE ROLE worker LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; "
      "GRANT USAGE ON SCHEMA halmark TO worker; "
      "GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA halmark TO worker; "
      "GRANT USAGE ON ALL SEQUENCES IN SCHEMA halmark TO worker"));
  std::string url = url_;
  const auto user = url.find("//") + 2;
  url.replace(user, url.find('@') - user, "worker");
  const auto session = agent_session(url);
  WorkTable table(*session);
  Agent agent{.node = "n", .pid = 1, .offer = need(), .state = "idle"};
  agent.id = table.enter(agent);
  EXPECT_EQ(table.claim(agent).units.size(), 1u);
}

}  // namespace
}  // namespace halmark::fleet
