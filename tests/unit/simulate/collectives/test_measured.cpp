// Collectives that others measured, every other size fitted and the rest predicted; then a rank
// count that no fit has seen. The file is third-party data beside the checkout; without it the test
// says so and skips.

#include <filesystem>

#include "core/json/json.hpp"
#include "core/numeric/statistics.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/collectives/known_systems.hpp"
#include "tests/checkout.hpp"
#include "tests/shared_data.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

struct Series {
  std::string system;
  Collective collective = Collective::all_reduce;
  std::vector<CollectivePoint> even, odd;  // by size, counted from the smallest
  std::vector<CollectivePoint> all() const {
    std::vector<CollectivePoint> out = even;
    out.insert(out.end(), odd.begin(), odd.end());
    return out;
  }
};

// Both element types of a system and operation are one series: they share their parameters.
std::vector<Series> read_series(const Json& data) {
  std::map<std::pair<std::string, std::string>, Series> out;
  for (const Json& set : data["sets"]) {
    const std::string system = set["system"], source = set["source"];
    if (!source.starts_with("ai-dynamo/aiconfigurator")) continue;
    const std::string op = set["op"] == "alltoall" ? "all_to_all" : set["op"].get<std::string>();
    Series& series = out[{system, op}];
    series.system = system;
    series.collective = collective_named(op).value();
    std::size_t at = 0;
    for (const Json& row : set["points"]) {
      (at++ % 2 == 0 ? series.even : series.odd)
          .push_back({set["n_ranks"].get<std::int64_t>(), row[0].get<double>(),
                      row[1].get<double>() * 1e-6});
    }
  }
  std::vector<Series> list;
  for (auto& [key, series] : out) list.push_back(std::move(series));
  return list;
}

std::string device_of(const std::string& system) {
  static const std::map<std::string, std::string> ids = {
      {"A100", "a100"}, {"H100", "h100-sxm"}, {"B200", "b200"}, {"L40S", "l40s"}};
  return ids.at(system.substr(0, 4));
}

FitLink link_of(const std::string& system) {
  const Device device =
      *find_device(device_of(system), {halmark::test::in_source("/configs/devices")});
  const Link& link = device.links.front();
  return {std::max(link.bytes_per_s, link.bytes_per_s_high.value_or(0)), link.reduces_in_switch};
}

struct Score {
  std::vector<double> errors;
  double covered = 0;
  void add(const CollectiveFit& fit, std::span<const CollectivePoint> points) {
    for (const CollectivePoint& p : points) {
      errors.push_back(std::abs(fit.seconds(p.bytes, p.ranks) / p.seconds - 1));
      const Interval i = fit.interval_s(p.bytes, p.ranks);
      covered += i.low <= p.seconds && p.seconds <= i.high ? 1 : 0;
      EXPECT_GE(fit.seconds(p.bytes, p.ranks), fit.bound_s(p.bytes, p.ranks));
      EXPECT_LE(fit.bound_s(p.bytes, p.ranks), p.seconds * 1.0005);
    }
  }
  void add(const Score& other) {
    errors.insert(errors.end(), other.errors.begin(), other.errors.end());
    covered += other.covered;
  }
  double mean_percent() const { return 100 * mean(errors); }
  double covered_percent() const { return 100 * covered / static_cast<double>(errors.size()); }
};

// 4 and 8 ranks in turn from the two other counts, of all sizes.
Score unseen_ranks(const Series& series, const FitLink& link) {
  Score out;
  for (const std::int64_t ranks : {4, 8}) {
    std::vector<CollectivePoint> kept, held;
    for (const CollectivePoint& p : series.all()) (p.ranks == ranks ? held : kept).push_back(p);
    out.add(fit_collective(series.collective, kept, link), held);
  }
  return out;
}

TEST(MeasuredCollectiveFits, predict_unseen_sizes_and_rank_counts) {
  const std::filesystem::path file = halmark::test::shared_data("collectives-measured.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "data not found: " << file;
  const std::vector<Series> all = read_series(read_json_file(file.string()));
  ASSERT_EQ(all.size(), 16u);
  Score sizes, ranks;
  for (const Series& series : all) {
    const FitLink link = link_of(series.system);
    const CollectiveFit fit = fit_collective(series.collective, series.even, link);
    sizes.add(fit, series.odd);
    ranks.add(unseen_ranks(series, link));
  }
  EXPECT_LE(sizes.mean_percent(), 7.0);
  EXPECT_LE(ranks.mean_percent(), 12.0);
  EXPECT_GE(sizes.covered_percent(), 85);
  EXPECT_LE(sizes.covered_percent(), 95);
}

TEST(MeasuredCollectiveFits, predict_a_system_from_its_link_and_two_others) {
  const std::filesystem::path file = halmark::test::shared_data("collectives-measured.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "data not found: " << file;
  Score all;
  for (const Series& series : read_series(read_json_file(file.string()))) {
    const std::string device = device_of(series.system);
    if (device == "l40s") continue;  // the only one of its wire
    const auto fit =
        fit_of_known_systems(series.collective, Wire::nvlink, link_of(series.system), device);
    ASSERT_TRUE(fit);
    all.add(*fit, series.all());
  }
  EXPECT_LE(all.mean_percent(), 26.0);
  EXPECT_GE(all.covered_percent(), 85);
}

}  // namespace
}  // namespace halmark::simulate
