// Every setting says who set it.
#include "tests/unit/error_of.hpp"
#include "tune/devices/settings.hpp"

#include <gmock/gmock.h>

#include "tests/scoped_environment.hpp"

namespace halmark::tune {
namespace {

// The first row of that name.
Json row_of(const report::View& view, const std::string& name) {
  for (const Json& row : view.data["settings"]) {
    if (row["setting"] == name) return row;
  }
  return {};
}

TEST(Settings, a_default_names_itself_and_the_command_line_goes_first) {
  const test::ScopedVariable state("XDG_STATE_HOME", "/tmp/state");
  const report::View view = settings_view({});
  EXPECT_EQ(row_of(view, "results database")["value"], "/tmp/state/halmark/halmark.db");
  EXPECT_EQ(row_of(view, "results database")["from"], "XDG_STATE_HOME");
  EXPECT_EQ(row_of(view, "limit of phase create")["from"], "default");
  const report::View stated = settings_view({.db = "/x/night.db", .phase_limits = {"create=31"}});
  EXPECT_EQ(row_of(stated, "results database")["value"], "/x/night.db");
  EXPECT_EQ(row_of(stated, "results database")["from"], "--db");
  EXPECT_EQ(row_of(stated, "studies")["value"], "/x/night.db.study");
  EXPECT_EQ(row_of(stated, "limit of phase create")["value"], "31 s");
  EXPECT_EQ(row_of(stated, "limit of phase create")["from"], "--phase-limit");
  const test::ScopedVariable stateless("XDG_STATE_HOME"), home("HOME", "/tmp/somebody");
  EXPECT_EQ(row_of(settings_view({}), "results database")["value"],
            "/tmp/somebody/.local/state/halmark/halmark.db");
}

TEST(Settings, an_environment_variable_is_named) {
  const test::ScopedVariable plain("NO_COLOR", "1");
  EXPECT_EQ(row_of(settings_view({}), "color")["from"], "NO_COLOR");
  EXPECT_EQ(row_of(settings_view({.color = "always"}), "color")["from"], "--color");
}

TEST(Settings, a_value_that_every_command_refuses_is_refused) {
  EXPECT_EQ(test::error_of([] { settings_view({.worker_memory = "much"}); }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark::tune
