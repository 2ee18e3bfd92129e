#include <gmock/gmock.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "core/text/error.hpp"
#include "plan/measure_limits.hpp"
#include "plan/shard_places.hpp"
#include "plan/sweep.hpp"
#include "plan/worker_limits.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

// Limits of workers as users write them; both sides of each.

TEST(WorkerMemoryText, is_a_size_or_none) {
  const auto bytes = [](const char* text) { return parse_worker_memory(text, "here"); };
  EXPECT_EQ(bytes("8GiB"), std::int64_t{8} << 30);
  EXPECT_EQ(bytes("1.5 GB"), 1'500'000'000);
  EXPECT_EQ(bytes("67108864"), 67'108'864);
  EXPECT_EQ(bytes("none"), 0);
  for (const char* bad : {"", "8", "67108863", "8Gib", "-1GiB", "nan", "1e30", "8 GiB more"}) {
    EXPECT_THROW(bytes(bad), Error) << bad;
  }
}

TEST(PhaseLimitText, names_a_phase_and_seconds) {
  const auto [phase, seconds] = parse_phase_limit("create=0.1", "here");
  EXPECT_STREQ(phase->name, "create");
  EXPECT_EQ(seconds, 0.1);
  EXPECT_EQ(parse_phase_limit("first=86400", "here").second, 86'400);
  for (const char* bad : {"create", "create=", "create=0.09", "create=86401", "create=1s",
                          "creat=1", "=1", "create=nan"}) {
    EXPECT_THROW(parse_phase_limit(bad, "here"), Error) << bad;
  }
  try {
    parse_phase_limit("creat=1", "--phase-limit");
  } catch (const Error& error) {
    EXPECT_THAT(error.line(), HasSubstr("create"));
  }
}

constexpr const char* sweep = R"(
name = "a"
model = "m"
dtypes = ["f32"]
[[workload]]
phase = "decode"
batch = [1]
context = 8
)";

TEST(Containment, of_a_sweep_gives_way_to_the_command_line) {
  const Sweep read = parse_sweep(
      std::string(sweep) + "[containment]\nworker_memory = \"1GiB\"\ncreate_s = 5\nfirst_s = 6\n",
      "a.toml");
  const WorkerLimits of_sweep = worker_limits(read.containment, {});
  EXPECT_EQ(of_sweep.memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(of_sweep.create_s, 5);
  EXPECT_EQ(of_sweep.first_s, 6);
  EXPECT_EQ(of_sweep.open_s, WorkerLimits{}.open_s);
  StatedLimits command;
  command.phases.push_back(parse_phase_limit("create=7", "here"));
  const WorkerLimits both = worker_limits(read.containment, command);
  EXPECT_EQ(both.create_s, 7);
  EXPECT_EQ(both.first_s, 6);
  EXPECT_FALSE(worker_limits({}, {}).memory_bytes) << "then the machine says";
  EXPECT_THROW(parse_sweep(std::string(sweep) + "[containment]\ncreat_s = 5\n", "a.toml"), Error);
  EXPECT_THROW(parse_sweep(std::string(sweep) + "[containment]\ncreate_s = 0\n", "a.toml"), Error);
}

template <class Call>
std::string said(Call call) {
  return test::error_of(call).line();
}

std::string read(std::string_view text) {
  return shard_places_text(parse_shard_places(text, "a.toml:3:1"));
}

TEST(ShardPlaces, name_a_device_or_the_next_free_part_of_it) {
  EXPECT_EQ(read("cpu:0"), "cpu:0");
  EXPECT_EQ(read("cpu:0/2 + opencl:0"), "cpu:0/2.0 + opencl:0");
  EXPECT_EQ(read("cpu:0/2+cpu:0/2"), "cpu:0/2.0 + cpu:0/2.1");
  EXPECT_EQ(read("cpu:0/2.1 + cpu:0/2"), "cpu:0/2.1 + cpu:0/2.0");
  EXPECT_EQ(read("2 x cuda:1/2 + cuda:0"), "cuda:1/2.0 + cuda:1/2.1 + cuda:0");
}

TEST(ShardPlaces, are_read_again_from_their_text) {
  const auto places = parse_shard_places("3 x cpu:0/4 + fake:7", "");
  EXPECT_EQ(parse_shard_places(shard_places_text(places), ""), places);
  EXPECT_EQ(places.size(), 4U);
}

TEST(ShardPlaces, words_that_name_none_are_refused_where_they_stand) {
  for (const char* text : {"", "cpu", ":0", "cpu:", "cpu:0/0", "cpu:0/2.2", "cpu:0/x",
                           "0 x cpu:0/2", "cpu:0 + ", "cpu:0/-1", "y x cpu:0"}) {
    EXPECT_THAT(said([&] { parse_shard_places(text, "a.toml:3:1"); }),
                AllOf(HasSubstr("a.toml:3:1"), HasSubstr("is no place of a shard")))
        << text;
  }
}

TEST(ShardPlaces, no_two_shards_lie_on_one_part) {
  EXPECT_THAT(said([] { parse_shard_places("cpu:0 + cpu:0", "--shards-on"); }),
              AllOf(HasSubstr("two shards lie on cpu:0"), HasSubstr("cpu:0/2")));
  EXPECT_THAT(said([] { parse_shard_places("3 x cpu:0/2", "w"); }),
              HasSubstr("two shards lie on cpu:0/2.1"));
  EXPECT_THAT(said([] { parse_shard_places("cpu:0/2 + cpu:0/4", "w"); }),
              HasSubstr("cut into 2 and into 4"));
}

constexpr std::string_view sweep_text = R"(name = "s"
model = "qwen3-0.6b"
dtypes = ["f32"]
shards_on = ["cpu:0/2 + opencl:0", "cpu:0/2 + cpu:0/2"]
)";
constexpr std::string_view workload_text = R"([[workload]]
phase = "decode"
batch = 2
context = 64
)";

TEST(ShardPlaces, of_a_sweep_are_one_choice_each) {
  const Sweep sweep = parse_sweep(std::string(sweep_text) + std::string(workload_text), "s.toml");
  ASSERT_EQ(sweep.shards_on.size(), 2U);
  EXPECT_EQ(shard_places_text(sweep.shards_on[0]), "cpu:0/2.0 + opencl:0");
  EXPECT_EQ(sweep.backend, "cpu");
}

TEST(ShardPlaces, stand_beside_no_other_key_that_names_devices) {
  for (const char* more : {"shards = [1, 2]\n", "backend = \"cpu\"\n", "device = \"0\"\n",
                           "latency = [\"roofline\"]\n"}) {
    const std::string text = std::string(sweep_text) + more + std::string(workload_text);
    EXPECT_THAT(said([&] { parse_sweep(text, "s.toml"); }),
                AllOf(HasSubstr("s.toml:4:"), HasSubstr("shards_on stands beside")))
        << more;
  }
}

TEST(ShardPlaces, energy_is_an_objective_only_of_sweeps_that_name_it) {
  const std::string usual = std::string(sweep_text) + std::string(workload_text);
  EXPECT_EQ(parse_sweep(usual, "s.toml").objectives.size(), 3U);
  const std::string asked = std::string(sweep_text) + "objectives = [\"latency\", \"energy\"]\n" +
                            std::string(workload_text);
  EXPECT_THAT(parse_sweep(asked, "s.toml").objectives,
              testing::ElementsAre(Objective::latency, Objective::energy));
}

TEST(ShardPlaces, as_many_as_4096_are_named_at_once) {
  EXPECT_EQ(parse_shard_places("4096 x cpu:0/4096", "w").size(), 4096U);
  EXPECT_EQ(read("1 x cpu:0"), "cpu:0");
  EXPECT_EQ(read("  cpu:0  +  2 x   fake:1/2 "), "cpu:0 + fake:1/2.0 + fake:1/2.1");
  for (const char* text : {"4097 x cpu:0/4097", "-1 x cpu:0", "2x cpu:0/2", "1.5 x cpu:0"}) {
    EXPECT_THAT(said([&] { parse_shard_places(text, "w"); }), HasSubstr("is no place of a shard"))
        << text;
  }
}

TEST(ShardPlaces, a_stated_part_is_no_other) {
  EXPECT_THAT(
      said([] { parse_shard_places("cpu:0/2.0 + cpu:0/2.0", "w"); }),
      AllOf(HasSubstr("two shards lie on cpu:0/2.0"), HasSubstr("cut the device: cpu:0/3")));
  EXPECT_THAT(said([] { parse_shard_places("cpu:0.1 + cpu:0.1", "w"); }), HasSubstr("cpu:0.1/2"));
  EXPECT_EQ(read("host.1:0/2 + host.1:0/2"), "host.1:0/2.0 + host.1:0/2.1")
      << "a point before the '/' states no part";
}

TEST(ShardPlaces, are_replicas_of_a_configuration_without_a_layout) {
  Configuration plain;
  assign_placement("", "w", plain);
  EXPECT_TRUE(plain.places.empty());
  EXPECT_EQ(plain.parallel.dp, 1);
  assign_placement("cpu:0/2 + cpu:0/2", "w", plain);
  EXPECT_EQ(plain.places.size(), 2U);
  EXPECT_EQ(plain.parallel.dp, 2);
  Configuration split;
  split.parallel.tp = 2;
  assign_placement("3 x cpu:0/3", "w", split);
  EXPECT_EQ(split.places.size(), 3U);
  EXPECT_EQ(split.parallel.dp, 1) << "who has a layout keeps it";
}

}  // namespace
}  // namespace halmark
