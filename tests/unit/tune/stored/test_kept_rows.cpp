// Rows that are kept without being asked for: what happens where they cannot be.
#include "tests/unit/error_of.hpp"
#include "tune/stored/kept_rows.hpp"

#include <gmock/gmock.h>

#include "tests/unit/scratch_folder.hpp"

namespace halmark::tune {
namespace {

class KeptRowsTest : public testing::Test {
 protected:
  Measurement row() const {
    Measurement out;
    out.status = Status::ok;
    out.kernel_case.problem = {"copy", {{"bytes", 64}}};
    return out;
  }
  std::string database() const { return (folder_.path() / "kept.db").string(); }
  // A file where a folder is needed: nobody can write below it.
  std::string unwritable() const { return "/proc/version/kept.db"; }

  test::ScratchFolder folder_;
  const RunInfo run_{.command = "halmark bench", .fingerprint = "here"};
};

TEST_F(KeptRowsTest, stand_in_a_run_of_their_own_with_its_machine) {
  KeptRows kept({.database = database()}, run_, {"cpu: one"});
  kept.append(row());
  ASSERT_TRUE(kept.run());
  EXPECT_EQ(kept.reason(), "");
  const auto store = open_store_read_only(database());
  EXPECT_EQ(store->run_measurements(*kept.run()).size(), 1u);
  EXPECT_EQ(store->machine(*kept.run())->lines, std::vector<std::string>{"cpu: one"});
  EXPECT_FALSE(store->latest_sweep());
}

TEST_F(KeptRowsTest, that_cannot_be_kept_leave_a_reason_unless_they_were_asked_for) {
  KeptRows kept({.database = unwritable()}, run_, {});
  EXPECT_FALSE(kept.run());
  EXPECT_THAT(kept.reason(), testing::HasSubstr("/proc/version"));
  kept.append(row());
  const Error error = halmark::test::error_of(
      [&] { KeptRows({.database = unwritable(), .is_asked = true}, run_, {}); });
  EXPECT_NE(error.exit_code(), ExitCode::ok);
}

TEST_F(KeptRowsTest, are_off_where_that_is_wanted) {
  KeptRows kept({.database = database(), .is_off = true}, run_, {});
  kept.append(row());
  EXPECT_FALSE(kept.run());
  EXPECT_EQ(kept.reason(), "");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

}  // namespace
}  // namespace halmark::tune
