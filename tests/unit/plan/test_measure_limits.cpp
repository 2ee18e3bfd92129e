#include "plan/measure_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/text/error.hpp"
#include "plan/sweep.hpp"

namespace halmark {
namespace {

class LimitsFile : public testing::Test {
 protected:
  LimitsFile()
      : path_((std::filesystem::path(testing::TempDir()) /
               (std::string("limits-") +
                testing::UnitTest::GetInstance()->current_test_info()->name() + '-' +
                std::to_string(::getpid()) + ".toml"))
                  .string()) {}
  ~LimitsFile() override { std::filesystem::remove(path_); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  std::string path_;
};

MeasureLimits all_limits() {
  MeasureLimits out{.rounds = 5};
  double value = 0.125;
  for (const LimitRow& row : limit_rows()) out.*row.value = value += 0.0625;
  return out;
}

TEST_F(LimitsFile, reads_back_what_was_written) {
  write(limits_text(all_limits(), "made by a test"));
  EXPECT_EQ(read_limits_file(path_), all_limits());
  write(limits_text({}, "nothing was found"));
  EXPECT_EQ(read_limits_file(path_), MeasureLimits{});
  write("");
  EXPECT_EQ(read_limits_file(path_), MeasureLimits{});
}

TEST_F(LimitsFile, that_says_the_impossible_is_refused_with_its_place) {
  for (const auto& [text, what] :
       {std::pair{"[measure]\nclock_mvoed = 0.1\n", "'clock_moved'"},
        std::pair{"[measure]\nsteal_fraction = 1.5\n", ":2:"},
        std::pair{"[measure]\nrounds = 0\n", ":2:"}, std::pair{"[limits]\n", "'limits'"}}) {
    write(text);
    try {
      read_limits_file(path_);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
      EXPECT_NE(error.line().find(what), std::string::npos) << error.line();
    }
  }
}

TEST(MeasureLimits, of_a_sweep_win_over_those_of_the_machine) {
  const Sweep sweep = parse_sweep(
      "name = 's'\nmodel = 'm'\ndtypes = 'f32'\n[[workload]]\nphase = 'decode'\nbatch = 1\n"
      "context = 8\n[measure]\nclock_moved = 0.5\nrounds = 4\n",
      "s.toml");
  EXPECT_EQ(sweep.measure.limits, (MeasureLimits{.rounds = 4, .clock_moved = 0.5}));
  MeasureSettings settings = sweep.measure;
  settings.take({.rounds = 7, .clock_moved = 0.25, .peak_moved = 0.375});
  EXPECT_EQ(settings.rounds, 4);
  EXPECT_EQ(settings.limits.clock_moved, 0.5);
  EXPECT_EQ(settings.limits.peak_moved, 0.375);
  MeasureSettings silent;
  silent.take({.rounds = 7});
  EXPECT_EQ(silent.rounds, 7);
  silent = {};
  silent.take({});
  EXPECT_EQ(silent.rounds, 3);
}

}  // namespace
}  // namespace halmark
