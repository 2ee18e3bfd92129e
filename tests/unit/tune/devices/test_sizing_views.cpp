// Mixes and floors as they are shown: every figure of the document against values made by hand, and
// a mix that is priced against the fleet that its own figures ask for.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/sizing/device_floor.hpp"
#include "tune/sizing/device_floor_view.hpp"
#include "tune/sizing/device_mix.hpp"
#include "tune/sizing/device_mix_view.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using halmark::test::has_all;
using halmark::test::HasValues;
using testing::HasSubstr;
using testing::Not;

// Two types; two kinds of requests, the second of which only the larger unit serves.
DeviceMix by_hand() {
  DeviceMix mix;
  mix.model = "m";
  mix.load.buckets = {{{512, 128}, 8}, {{4096, 256}, 1}};
  mix.load.levels = {{.objective = Objective::ttft, .limit = 1e9}};
  Device small{.id = "small"}, large{.id = "large"};
  mix.units = {{small, 1, 0.5}, {large, 2, 4}};
  mix.loads = {{{4, "", 16, 512, 1e8, 1e7}, {10, "", 64, 2048, 2e8, 2e7}},
               {{0, "ttft 2 s above 1 s", 0, 0, 0, 0}, {2, "", 8, 8192, 3e8, 3e7}}};
  mix.slices = 4;
  mix.fleet = {.units = {2, 1},
               .slices = {{3, 1}, {0, 4}},
               .load = {1.5, 0.7},
               .usd_per_hour = 5,
               .solver = "by hand"};
  mix.devices = {"small", "large"};
  mix.single_usd_per_hour = {std::nullopt, 8};
  mix.basis = {"roofline"};
  return mix;
}

TEST(DeviceMixView, says_of_every_unit_how_many_there_are_and_how_busy_they_are) {
  const Json data = device_mix_view(by_hand(), 200).data;
  EXPECT_THAT(data, HasValues(R"({"/model": "m", "/usd_per_hour": 5.0, "/slices": 4,
      "/solver": "by hand", "/basis": ["roofline"], "/levels": [{"objective": "ttft",
      "limit": 1e9}], "/units": [ {"device": "small", "tp": 1, "usd_per_hour": 0.5, "count": 2,
      "devices": 2, "utilisation": 0.75}, {"device": "large", "tp": 2, "usd_per_hour": 4.0,
      "count": 1, "devices": 2, "utilisation": 0.7} ], "/single_types": [ {"device": "small",
      "usd_per_hour": null, "savings": null}, {"device": "large", "usd_per_hour": 8.0,
      "savings": 0.375}]})"));
}

TEST(DeviceMixView, says_of_every_kind_of_request_who_serves_it_and_why_others_cannot) {
  const Json buckets = device_mix_view(by_hand(), 200).data.at("buckets");
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0], Json::parse(R"({"input_tokens": 512, "output_tokens": 128,
    "requests_per_s": 8.0, "served_by": [
    {"unit": 0, "share": 0.75, "requests_per_s_of_a_unit": 4.0, "reason": "", "concurrency": 16,
     "token_budget": 512, "ttft_ns": 1e8, "tpot_ns": 1e7},
    {"unit": 1, "share": 0.25, "requests_per_s_of_a_unit": 10.0, "reason": "", "concurrency": 64,
     "token_budget": 2048, "ttft_ns": 2e8, "tpot_ns": 2e7}]})"));
  EXPECT_THAT(buckets, HasValues(R"({"/1/served_by/0": {"unit": 0, "share": 0.0,
      "requests_per_s_of_a_unit": null, "reason": "ttft 2 s above 1 s", "concurrency": null,
      "token_budget": null, "ttft_ns": null, "tpot_ns": null}, "/1/served_by/1/share": 1.0})"));
}

TEST(DeviceMixView, prints_what_is_rented_who_serves_what_and_what_one_type_alone_would_cost) {
  const std::string text = device_mix_view(by_hand(), 200).text;
  EXPECT_THAT(text, has_all({"m: the cheapest mix costs 5.00 USD/h\n",
                             "small alone: cannot serve every kind of request within the levels",
                             "integer program by by hand, exact for 4 slices"}));
  EXPECT_THAT(text,
              halmark::test::has_lines({"small +2 +1.00 +75.0 %", "large tp2 +1 +4.00 +70.0 %",
                                        "512 \\+ 128 tokens +8.00 +small +75.0 % +4.00/s",
                                        "4096 \\+ 256 tokens +1.00 +large tp2 +100.0 % +2.00/s",
                                        "large alone: 8.00 USD/h, the mix saves 37.5 %"}));
  EXPECT_THAT(text, Not(testing::ContainsRegex("4096 \\+ 256 tokens +1.00 +small")));
  DeviceMix idle = by_hand();
  idle.fleet.units[0] = 0;
  const report::View without = device_mix_view(idle, 200);
  EXPECT_THAT(without.text, Not(testing::ContainsRegex("small +0")));
  EXPECT_TRUE(without.data.at("units")[0].at("utilisation").is_null());
}

TEST(AskedLoad, is_a_file_or_one_kind_of_request) {
  const LoadBucket bucket{{512, 128}, 4};
  const RequestLoad load = asked_load("", bucket);
  ASSERT_EQ(load.buckets.size(), 1u);
  EXPECT_EQ(load.buckets[0].requests_per_s, 4);
  expect_error([&] { asked_load("f.toml", bucket); }, "name one load");
  expect_error([] { asked_load("", {}); }, "name one load");
  EXPECT_NO_THROW(asked_load("", {{1, 1}, 1e9}));
  EXPECT_NO_THROW(asked_load("", {{1 << 22, 1 << 22}, 1e-3}));
  for (const LoadBucket& wrong :
       {LoadBucket{{0, 1}, 1}, LoadBucket{{1, 0}, 1}, LoadBucket{{1, 1}, -1},
        LoadBucket{{1, 1}, 1.1e9}, LoadBucket{{(1 << 22) + 1, 1}, 1},
        LoadBucket{{1, (1 << 22) + 1}, 1}}) {
    expect_error([&] { asked_load("", wrong); }, "no load has these");
  }
}

const Folders models{halmark::test::in_source("/configs/models")};
const Folders devices{halmark::test::in_source("/configs/devices")};

MixChoice choice() {
  MixChoice out;
  out.model = "llama-3.1-8b";
  out.unit.dtype = "bf16";
  out.devices = {"l4", "h100-sxm"};
  out.prices = {"l4=0.5", "h100-sxm=3"};
  out.tp = {1, 2};
  return out;
}

RequestLoad load_of(std::vector<LoadBucket> buckets, double ttft_ns) {
  return {.buckets = std::move(buckets),
          .levels = {{.objective = Objective::ttft, .limit = ttft_ns}}};
}

// The mix is that of the integer program over the capacities that it states itself, and every load
// that counts keeps the level.
TEST(DeviceMix, is_the_cheapest_of_what_its_units_keep_up) {
  const DeviceMix mix =
      mix_devices(choice(), load_of({{{512, 128}, 20}, {{8000, 64}, 2}}, 2e9), models, devices);
  ASSERT_EQ(mix.units.size(), 4u);
  EXPECT_EQ(mix.units[1].tp, 2);
  EXPECT_DOUBLE_EQ(mix.units[1].usd_per_hour, 1);
  EXPECT_DOUBLE_EQ(mix.units[3].usd_per_hour, 6);
  FleetQuestion question{.usd_per_hour = {0.5, 1, 3, 6}, .rates = {20, 2}, .slices = 8};
  for (const auto& loads : mix.loads) {
    auto& capacity = question.capacity.emplace_back();
    ASSERT_EQ(loads.size(), 4u);
    for (const UnitLoad& load : loads) {
      capacity.push_back(load.requests_per_s);
      if (load.requests_per_s > 0) {
        EXPECT_LE(load.estimate.figures.ttft_ns, 2e9);
        // Little's law, of the load that is named.
        EXPECT_GT(load.concurrency, 0);
        EXPECT_TRUE(load.reason.empty());
      } else {
        EXPECT_FALSE(load.reason.empty());
      }
    }
  }
  EXPECT_NEAR(mix.fleet.usd_per_hour, cheapest_fleet(question)->usd_per_hour, 1e-9);
  ASSERT_EQ(mix.single_usd_per_hour.size(), 2u);
  for (const auto& single : mix.single_usd_per_hour) {
    EXPECT_GE(single.value_or(INFINITY), mix.fleet.usd_per_hour - 1e-9);
  }
  EXPECT_TRUE(mix.single_usd_per_hour[1]) << "an H100 serves both";
  // Two devices of one unit keep up more than one.
  EXPECT_GT(mix.loads[0][3].requests_per_s, mix.loads[0][2].requests_per_s);
}

TEST(DeviceMix, refuses_what_has_no_price_no_unit_and_no_server) {
  const RequestLoad easy = load_of({{{512, 128}, 1}}, 10e9);
  const auto refusal = [&](const MixChoice& asked, const RequestLoad& load) {
    const Error error = error_of([&] { mix_devices(asked, load, models, devices); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return std::string(error.what());
  };
  MixChoice asked = choice();
  asked.prices = {"h100-sxm=3", "other=1"};
  EXPECT_THAT(refusal(asked, easy), HasSubstr("no device is called 'other'"));
  asked = choice();
  asked.devices = {"l4", "l4"};
  EXPECT_THAT(refusal(asked, easy), HasSubstr("is named twice"));
  for (const std::int64_t tp : {0, 1025}) {
    asked = choice();
    asked.tp = {tp};
    EXPECT_THAT(refusal(asked, easy), HasSubstr("devices are no unit"));
  }
  EXPECT_THAT(refusal(choice(), load_of({{{512, 128}, 1}}, 1)),
              HasSubstr("by none of the devices"));
  RequestLoad wrong = easy;
  wrong.levels = {{.objective = Objective::latency, .limit = 1}};
  EXPECT_THAT(refusal(choice(), wrong), HasSubstr("is no figure of requests"));
  wrong = easy;
  wrong.buckets[0].request.output_tokens = 1;
  wrong.levels = {{.objective = Objective::interactivity, .limit = 1}};
  EXPECT_THAT(refusal(choice(), wrong), HasSubstr("none follows"));
  wrong.buckets = {{{512, 128}, 1}, {{512, 1}, 1}};
  EXPECT_THAT(refusal(choice(), wrong), HasSubstr("none follows")) << "of any kind of request";
}

DeviceFloor floor_by_hand() {
  DeviceFloor out;
  out.model = "m";
  out.dtype = "bf16";
  out.question = {.request = {4096, 256},
                  .concurrency = 2,
                  .tp = 1,
                  .levels = {{.objective = Objective::tpot, .limit = 1e7}}};
  out.alone = {1e14, 2e12, 0};
  out.together = {1.5e14, 3e12, 0};
  out.factor = 1.5;
  out.set_by = {Objective::ttft, Objective::tpot, std::nullopt};
  out.share = {0.25, 0.5, 0};
  out.binding = Ceiling::memory_bandwidth;
  out.memory_bytes = 20'000'000'000;
  out.basis = {"stated"};
  return out;
}

TEST(DeviceFloorView, has_each_ceiling_with_what_sets_it_and_what_a_device_has) {
  Device d{.id = "d"};
  d.memory_bytes = 24'000'000'000;
  d.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 2e14}};
  d.bandwidths = {{.level = "memory", .bytes_per_s = 1e12}};
  const Json data = device_floor_view(floor_by_hand(), d).data;
  EXPECT_THAT(data, HasValues(R"({"/ceilings": [ {"name": "FLOP/s", "unit": "FLOP/s",
      "alone": 1e14, "together": 1.5e14, "set_by": "ttft", "share": 0.25, "device": 2e14},
      {"name": "memory bandwidth", "unit": "bytes/s", "alone": 2e12, "together": 3e12,
      "set_by": "tpot", "share": 0.5, "device": 1e12}, {"name": "link", "unit": "bytes/s",
      "alone": null, "together": null, "set_by": null, "share": 0.0, "device": null}],
      "/request": {"input_tokens": 4096, "output_tokens": 256, "concurrency": 2, "tp": 1},
      "/levels": [{"objective": "tpot", "limit": 1e7}], "/memory_bytes": 20000000000,
      "/device_memory_bytes": 24000000000, "/device": "d", "/factor": 1.5,
      "/binding": "memory bandwidth"})"));
  const Json bare = device_floor_view(floor_by_hand(), {}).data;
  EXPECT_THAT(bare, HasValues(R"({"/device": null, "/device_memory_bytes": null,
      "/ceilings/0/device": null})"));
}

TEST(DeviceFloorView, prints_the_question_and_what_binds) {
  DeviceFloor floor = floor_by_hand();
  const std::string text = device_floor_view(floor, {}).text;
  EXPECT_THAT(text, has_all({"m: 2 requests of 4096 + 256 tokens at a time on 1 device\n",
                             "memory bandwidth binds: without its limit the narrowest level would "
                             "be 50.0 % better",
                             "all together: 1.50 times that", "stated\n"}));
  EXPECT_THAT(text, testing::ContainsRegex("FLOP/s in bf16.*ttft"));
  floor.question.concurrency = 1;
  floor.question.tp = 2;
  EXPECT_THAT(device_floor_view(floor, {}).text,
              HasSubstr("m: 1 request of 4096 + 256 tokens at a time on 2 devices\n"));
}

}  // namespace
}  // namespace halmark::tune
