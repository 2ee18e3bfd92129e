// Ranks on devices that differ: each kernel is that of its rank's device, and the slowest counts.

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/stack/rank_placement.hpp"
#include "model/pricing/step_energy.hpp"

namespace halmark {
namespace {

using namespace model_test;

Configuration on(std::vector<ShardPlace> places, Parallel parallel, std::int64_t batch = 4) {
  Configuration out = decode(batch, 32);
  out.parallel = parallel;
  out.places = std::move(places);
  return out;
}

StackPlacement placement_of(const Configuration& c) {
  StackPlacement out;
  for (const ShardPlace& place : c.places) {
    const auto at_once =
        std::ranges::count(c.places, place.device_text(), &ShardPlace::device_text);
    out.ranks.push_back({.backend = place.backend,
                         .device = place.device,
                         .parts = place.parts,
                         .at_once = static_cast<int>(at_once),
                         .ring_bytes = 1 << 20});
  }
  return out;
}

DeviceFacts facts_of(const Configuration& c) {
  DeviceFacts out;
  out.of_ranks.resize(c.places.size());
  return out;
}

Composer composer(const Configuration& c, std::optional<DeviceFacts> facts = {}) {
  return {graph_of(tiny(), c), placement_of(c), facts ? *std::move(facts) : facts_of(c)};
}

// 10 ns on the CPU, 30 ns on any other backend.
Latency by_backend(const KernelCase& k) {
  const double ns = k.backend == "cpu" ? 10 : 30;
  return {.ns = ns, .low_ns = ns, .high_ns = ns, .provenance = Provenance::measured};
}

const ShardPlace half{.backend = "cpu", .parts = 2};
const ShardPlace gpu{.backend = "cuda"};

TEST(NamedPlaces, kernels_are_those_of_each_ranks_device) {
  const Configuration c = on({half, gpu}, {.dp = 2});
  const Composer placed = composer(c);
  std::set<std::string> places;
  for (const KernelCase& k : placed.kernels()) {
    places.insert(k.backend + ':' + k.device + '/' + std::to_string(k.parts) + 'x' +
                  std::to_string(k.shards_at_once));
  }
  EXPECT_EQ(places, (std::set<std::string>{"cpu:0/2x1", "cuda:0/1x1"}));
}

TEST(NamedPlaces, a_data_parallel_step_is_that_of_its_slowest_rank) {
  const auto step_ns = [](const Configuration& c) {
    return composer(c).compose(by_backend).estimate.value().step_ns;
  };
  const ShardPlace other{.backend = "cpu", .parts = 2, .part = 1};
  const double both_on_cpu = step_ns(on({half, other}, {.dp = 2}));
  EXPECT_EQ(step_ns(on({half, gpu}, {.dp = 2})), 3 * both_on_cpu);
  EXPECT_EQ(step_ns(on({gpu, half}, {.dp = 2})), 3 * both_on_cpu) << "whichever comes first";
}

TEST(NamedPlaces, equal_places_are_the_cuts_of_one_device) {
  const Configuration named = on({half, {.backend = "cpu", .parts = 2, .part = 1}}, {.dp = 2});
  Configuration plain = named;
  plain.places.clear();
  const Composer cut(graph_of(tiny(), plain), {.backend = "cpu", .ring_bytes = 1 << 20}, {});
  const Composer placed = composer(named);
  EXPECT_THAT(placed.kernels(), testing::ElementsAreArray(cut.kernels()));
  EXPECT_EQ(placed.compose(by_backend).estimate->step_ns,
            cut.compose(by_backend).estimate->step_ns);
}

// Two stages on two devices; the way of one micro-batch goes through both.
TEST(NamedPlaces, stages_of_a_pipeline_lie_on_their_ranks_devices) {
  const Configuration c = on({half, gpu}, {.pp = 2}, 1);
  const Composer placed = composer(c);
  const Estimate e = placed.compose(by_backend).estimate.value();
  double sum_ns = 0;
  for (const OperatorShare& share : e.operators) sum_ns += share.ns;
  EXPECT_DOUBLE_EQ(e.step_ns, sum_ns) << "one micro-batch: the sum over the stages";
  const Configuration deep = on({gpu, gpu}, {.pp = 2}, 1);
  EXPECT_LT(e.step_ns, composer(deep).compose(by_backend).estimate->step_ns);
}

TEST(NamedPlaces, a_collective_over_devices_is_one_case_on_all_of_them) {
  const ShardPlace second{.backend = "cuda", .device = "1"};
  const Composer placed = composer(on({gpu, second}, {.tp = 2}));
  std::set<std::string> devices;
  for (const KernelCase& k : placed.kernels()) {
    if (k.is_collective()) devices.insert(k.device);
  }
  EXPECT_EQ(devices, std::set<std::string>{"0+1"});
}

TEST(NamedPlaces, stacks_carry_the_place_of_their_rank) {
  const Configuration c = on({half, gpu}, {.dp = 2});
  const std::vector<Stack> stacks = build_stacks(graph_of(tiny(), c), placement_of(c));
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].place, half);
  EXPECT_EQ(stacks[1].place, gpu);
  for (const KernelCase& k : stacks[1].kernels) EXPECT_EQ(k.backend, "cuda");
}

TEST(NamedPlaces, mfu_is_against_the_peaks_of_all_ranks) {
  const Configuration c = on({half, gpu}, {.dp = 2});
  DeviceFacts facts = facts_of(c);
  facts.of_ranks[0].measured = device_of(1e12, 1);
  facts.of_ranks[1].measured = device_of(3e12, 1);
  const Estimate e = composer(c, facts).compose(by_backend).estimate.value();
  ASSERT_TRUE(e.mfu) << e.mfu_reason;
  EXPECT_NEAR(*e.mfu, e.matmul_flops / 4e12 / (e.step_ns * 1e-9), 1e-12 * *e.mfu);
}

Latency metered(const KernelCase& k) {
  Latency out = by_backend(k);
  out.energy_j = k.backend == "cpu" ? 2 : 5;
  out.energy_origin = k.backend == "cpu" ? "rapl" : "cuda:0";
  return out;
}

std::int64_t executions_of_a_rank(const Configuration& c) {
  const std::vector<Stack> stacks = build_stacks(graph_of(tiny(), c), placement_of(c));
  return std::ssize(stacks[0].steps);
}

TEST(NamedPlaces, energy_is_the_sum_over_ranks_and_meters) {
  const Configuration c = on({half, gpu}, {.dp = 2});
  const Estimate e = composer(c).compose(metered).estimate.value();
  ASSERT_TRUE(e.energy);
  EXPECT_DOUBLE_EQ(e.energy->joules, 7.0 * as_double(executions_of_a_rank(c)));
  EXPECT_TRUE(e.energy->is_measured);
  EXPECT_EQ(e.energy->origin, "measured: cuda:0 rapl");
}

// One meter counts all packages, whichever device on them works.
TEST(NamedPlaces, a_meter_that_devices_share_is_counted_once) {
  const Configuration c = on({half, {.backend = "opencl", .parts = 2, .part = 1}}, {.dp = 2});
  const auto by_packages = [](const KernelCase& k) {
    Latency out = by_backend(k);
    out.energy_j = k.backend == "cpu" ? 2 : 3;
    out.energy_origin = "rapl";
    return out;
  };
  const Estimate e = composer(c).compose(by_packages).estimate.value();
  ASSERT_TRUE(e.energy);
  EXPECT_DOUBLE_EQ(e.energy->joules, 3.0 * as_double(executions_of_a_rank(c)));
}

TEST(NamedPlaces, energy_that_was_not_metered_is_assumed_only_for_who_asks) {
  const Configuration c = on({gpu}, {});
  DeviceFacts facts = facts_of(c);
  const auto priced = [&] { return composer(c, facts).compose(by_backend).estimate.value(); };
  EXPECT_FALSE(priced().energy);
  facts.asks_energy = true;
  const Estimate unknown = priced();
  EXPECT_FALSE(unknown.energy);
  says(unknown.energy_reason, "no power of the device is known");
  facts.of_ranks[0].datasheet = Device{.id = "h200", .power_w = 700};
  const Estimate assumed = priced();
  ASSERT_TRUE(assumed.energy);
  EXPECT_DOUBLE_EQ(assumed.energy->joules, 700 * assumed.step_ns * 1e-9);
  EXPECT_FALSE(assumed.energy->is_measured);
  EXPECT_EQ(assumed.energy->origin, "assumed: 700 W of h200 all the time");
}

TEST(NamedPlaces, the_key_of_a_configuration_names_its_places) {
  Configuration c = on({half, gpu}, {.dp = 2});
  EXPECT_TRUE(c.key().ends_with(" on cpu:0/2.0 cuda:0")) << c.key();
  c.places.clear();
  EXPECT_EQ(c.key().find(" on "), std::string::npos);
}

TEST(NamedPlaces, ranks_meet_as_stacks_number_them) {
  const Parallel parallel{.dp = 2, .tp = 2, .pp = 2};
  EXPECT_THAT(meeting_ranks(parallel, Split::column, 5), ElementsAre(4, 5));
  EXPECT_THAT(meeting_ranks(parallel, Split::pipeline, 5), ElementsAre(5, 7));
}

}  // namespace
}  // namespace halmark
