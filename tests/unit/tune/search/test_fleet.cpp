// Mixes of device types against every mix there is.
#include "tune/sizing/fleet.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numeric/random.hpp"

namespace halmark::tune {
namespace {

// Every way to hand out the slices, each with as many units as its work needs.
class Enumeration {
 public:
  explicit Enumeration(const FleetQuestion& q) : q_(q), load_(q.usd_per_hour.size(), 0) {}
  double cheapest() {
    visit(0, 0, q_.slices);
    return best_;
  }

 private:
  void visit(std::size_t bucket, std::size_t type, std::int64_t left) {
    if (bucket == q_.rates.size()) {
      double usd = 0;
      for (std::size_t t = 0; t < load_.size(); ++t) {
        usd += q_.usd_per_hour[t] * std::ceil(load_[t] - 1e-9);
      }
      best_ = std::min(best_, usd);
      return;
    }
    if (type == load_.size()) {
      if (left == 0) visit(bucket + 1, 0, q_.slices);
      return;
    }
    const double capacity = q_.capacity[bucket][type];
    for (std::int64_t n = 0; n <= (capacity > 0 ? left : 0); ++n) {
      const double before = load_[type];
      if (n > 0) {
        load_[type] +=
            q_.rates[bucket] * static_cast<double>(n) / static_cast<double>(q_.slices) / capacity;
      }
      visit(bucket, type + 1, left - n);
      load_[type] = before;
    }
  }

  const FleetQuestion& q_;
  std::vector<double> load_;
  double best_ = INFINITY;
};

FleetQuestion drawn(std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto between = [&](double low, double high) {
    return low + (high - low) * uniform_01(hash_u64(seed, counter++));
  };
  FleetQuestion out{.usd_per_hour = {}, .rates = {}, .capacity = {}, .slices = 4};
  for (int t = 0; t < 3; ++t) out.usd_per_hour.push_back(between(0.5, 5));
  for (int b = 0; b < 3; ++b) {
    out.rates.push_back(between(0.1, 8));
    auto& capacity = out.capacity.emplace_back();
    for (int t = 0; t < 3; ++t) capacity.push_back(between(0, 1) < 0.2 ? 0 : between(0.3, 4));
  }
  return out;
}

TEST(Fleet, costs_what_the_cheapest_of_all_mixes_costs) {
  int impossible = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const FleetQuestion q = drawn(seed);
    const double expected = Enumeration(q).cheapest();
    const auto found = cheapest_fleet(q);
    ASSERT_EQ(found.has_value(), std::isfinite(expected)) << seed;
    if (!found) {
      ++impossible;
      continue;
    }
    EXPECT_NEAR(found->usd_per_hour, expected, 1e-6) << seed << ' ' << found->solver;
    for (std::size_t t = 0; t < q.usd_per_hour.size(); ++t) {
      EXPECT_LE(found->load[t], static_cast<double>(found->units[t]) + 1e-6) << seed;
    }
  }
  EXPECT_LT(impossible, 10);
}

// A large device for long requests, small ones for the rest: neither alone is as cheap.
TEST(Fleet, a_mix_beats_either_type_alone) {
  FleetQuestion q{
      .usd_per_hour = {4, 1}, .rates = {8, 1}, .capacity = {{10, 4}, {1.25, 0}}, .slices = 8};
  const auto mix = cheapest_fleet(q);
  ASSERT_TRUE(mix);
  EXPECT_NEAR(mix->usd_per_hour, 4 + 2, 1e-9);
  q.capacity = {{10, 0}, {1.25, 0}};
  EXPECT_NEAR(cheapest_fleet(q)->usd_per_hour, 8, 1e-9);
  q.capacity = {{0, 4}, {0, 0}};
  EXPECT_FALSE(cheapest_fleet(q));
}

}  // namespace
}  // namespace halmark::tune
