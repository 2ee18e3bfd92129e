// A user without a home of their own, as a container's: every command that keeps something says in
// one line what cannot be written and what to do, before it measures.
#include <unistd.h>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

// Below /proc nobody makes a folder, root neither.
class UnwritablePlaces : public HalmarkTest {
 protected:
  UnwritablePlaces() {
    base_.environment["HOME"] = "/proc/nowhere";
    for (const char* variable : {"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) {
      base_.environment[variable] = "";
    }
  }

  static Arguments tune_model() {
    return {"tune",    "qwen3-0.6b", "--device", "h100-sxm", "--devices", "1",
            "--input", "500",        "--output", "50",       "--quiet"};
  }

  void expect_remedy(const Arguments& arguments, const std::vector<std::string>& remedies) const {
    const Outcome o = halmark(arguments);
    const std::string command = testing::PrintToString(arguments);
    EXPECT_EQ(o.exit_code, 1) << command << '\n' << o.out << o.err;
    EXPECT_TRUE(is_one_line(o.err)) << command << '\n' << o.err;
    EXPECT_THAT(o.err, HasSubstr("/proc/nowhere/.local/state/halmark/")) << command;
    EXPECT_THAT(o.err, HasSubstr("cannot be written")) << command;
    for (const std::string& remedy : remedies) EXPECT_THAT(o.err, HasSubstr(remedy)) << command;
    EXPECT_LT(o.cpu_s, 20) << command << ": told before anything is measured";
  }
};

TEST_F(UnwritablePlaces, have_their_remedy_in_every_command_that_keeps_something) {
  const std::string sweep = tiny_sweep("fake");
  const std::string state = "XDG_STATE_HOME";
  expect_remedy({"tune", sweep, "--quiet"}, {"--db", state});
  expect_remedy(tune_model(), {"--db", state});
  expect_remedy({"peaks", "--quiet"}, {state});
  expect_remedy({"aa", "--backend", "fake", "--quiet"}, {"--out", state});
  const Arguments agent = {"agent", "postgresql://nobody@127.0.0.1:1/none", "--quiet"};
  constexpr int without_postgresql = 5;
  if (halmark(agent).exit_code != without_postgresql) expect_remedy(agent, {state});
}

// What is measured and printed is not lost because it cannot be kept.
TEST_F(UnwritablePlaces, that_are_not_needed_end_no_command) {
  const Outcome o = undisturbed(Arguments{"run", tiny_model(), "--phase", "decode", "--batch", "1",
                                          "--context", "16", "--backend", "fake", "--dtype", "f32",
                                          "--rounds", "1", "--seconds", "0.1"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.err,
              HasSubstr("not stored: /proc/nowhere/.local/state/halmark/halmark.db: cannot be "
                        "written: its folder cannot be made"));
  EXPECT_THAT(o.err, HasSubstr("XDG_STATE_HOME"));
  for (const Arguments& reads : {Arguments{"doctor"}, {"devices"}, {"config", "show"}}) {
    EXPECT_EQ(halmark(reads).exit_code, 0) << reads.front();
  }
}

TEST_F(UnwritablePlaces, another_place_that_is_named_is_used) {
  base_.environment["XDG_STATE_HOME"] = path("state");
  EXPECT_EQ(halmark(tune_model()).exit_code, 0);
  base_.environment["XDG_STATE_HOME"] = "";
  Arguments beside = tune_model();
  beside.insert(beside.end(), {"--db", "own.db"});
  const Outcome o = halmark(beside);
  EXPECT_EQ(o.exit_code, 0) << o.err;
}

TEST_F(UnwritablePlaces, that_the_user_named_are_told_with_another_option) {
  const std::string sweep = tiny_sweep("fake");
  Outcome o = halmark({"tune", sweep, "--quiet", "--db", "/proc/nowhere/x.db"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_THAT(o.err,
              HasSubstr("halmark: /proc/nowhere/x.db: cannot be written: its folder cannot be "
                        "made: No such file or directory; name another file with --db\n"));
  write("space.toml",
        "[[parameter]]\nname = \"a\"\nkind = \"ordinal\"\nvalues = [1, 2]\n[[objective]]\nname = "
        "\"t\"\n");
  for (const char* kind : {"sqlite:", "journal:"}) {
    o = halmark({"study", "serve", "space.toml", "--study", kind + std::string("/proc/nowhere/x")});
    EXPECT_EQ(o.exit_code, 1) << o.err;
    EXPECT_THAT(o.err, HasSubstr("name another file with --study"));
  }
  know_peaks();
  base_.environment["XDG_STATE_HOME"] = path("state");
  const Arguments agent = {"agent", "postgresql://nobody@127.0.0.1:1/none", "--spool",
                           "/proc/nowhere/spool.db"};
  o = halmark(agent);
  EXPECT_THAT(o.exit_code, testing::AnyOf(1, 5)) << "5: without PostgreSQL";
  if (o.exit_code == 1) {
    EXPECT_THAT(o.err, HasSubstr("name another file with --spool"));
  }
}

}  // namespace
}  // namespace halmark::integration
