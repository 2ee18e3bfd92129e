#include "journal/place.hpp"

#include <gtest/gtest.h>

#include "tests/unit/journal/journal_fixture.hpp"

namespace halmark {
namespace {

using Named = std::optional<std::pair<std::string, std::int64_t>>;

TEST(Place, a_run_is_named_behind_a_file_or_the_name_of_a_servers_database) {
  EXPECT_EQ(run_of_database("a.db:7"), (Named{{"a.db", 7}}));
  EXPECT_EQ(run_of_database("postgresql://h:5432/d:7"), (Named{{"postgresql://h:5432/d", 7}}));
  EXPECT_EQ(run_of_database("postgresql:///d?host=/tmp:12"),
            (Named{{"postgresql:///d?host=/tmp", 12}}));
}

// 18 digits always fit an integer of 64 bits; a query of a server's URL names a database as a path
// does.
TEST(Place, the_number_of_a_run_has_18_digits_at_most) {
  EXPECT_EQ(run_of_database("a.db:123456789012345678"), (Named{{"a.db", 123456789012345678}}));
  EXPECT_EQ(run_of_database("a.db:1234567890123456789"), std::nullopt);
  EXPECT_EQ(run_of_database("a.db:7x"), std::nullopt);
  EXPECT_EQ(run_of_database("postgresql://h?dbname=d:3"), (Named{{"postgresql://h?dbname=d", 3}}));
}

TEST(Place, a_damaged_database_is_salvaged_or_restored) {
  EXPECT_EQ(remedy_of_damage("a.db"), "'halmark salvage a.db NEW.db' copies the rest");
  EXPECT_EQ(remedy_of_damage("postgresql://h/d"), "restore a backup of the database (pg_restore)");
}

TEST(Place, a_port_is_no_run) {
  for (const char* text : {"postgresql://h:5432", "postgresql://h:5432/d", "a.db", "a.db:", "a:b",
                           "a.db:12345678901234567890"}) {
    EXPECT_EQ(run_of_database(text), std::nullopt) << text;
  }
}

TEST(Place, a_file_of_the_whole_name_is_no_run) {
  const test::ScratchFolder folder;
  test::make_database(folder / "a.db:7", 1);
  EXPECT_EQ(run_of_database(folder / "a.db:7"), std::nullopt);
}

TEST(Place, studies_lie_beside_a_file_and_within_a_servers_database) {
  EXPECT_EQ(studies_of("a.db"), "sqlite:a.db.study");
  EXPECT_EQ(studies_of("postgresql://h/d"), "postgresql://h/d");
  EXPECT_TRUE(is_database_there("postgresql://h/d"));
  EXPECT_FALSE(is_database_there("/nowhere/a.db"));
  const test::ScratchFolder folder;
  test::make_database(folder / "a.db", 1);
  EXPECT_TRUE(is_database_there(folder / "a.db"));
}

}  // namespace
}  // namespace halmark
