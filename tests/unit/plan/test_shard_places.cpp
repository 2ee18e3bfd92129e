#include "plan/shard_places.hpp"

#include <gmock/gmock.h>

#include "plan/sweep.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
