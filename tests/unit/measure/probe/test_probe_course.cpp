// What measure_peaks asks of a worker, in which order, and what it makes of the answers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "core/numeric/statistics.hpp"
#include "measure/probe/peaks.hpp"

namespace halmark {
namespace {

using protocol::ProbeAnswer;
using protocol::ProbeKind;
using protocol::ProbeRequest;

constexpr std::int64_t mib = 1 << 20;

struct Course {
  std::vector<ProbeRequest> asked;
  std::vector<std::pair<double, std::string>> progress;
  Device device;
};

const std::vector<CacheLevel> caches = {{1, 48 * 1024}, {2, 2 * mib}, {3, 480 * mib}};

// Rates tell the figure and the pass apart: 100 x (kind, threads, set) + number of the call.
Course course(PeakOptions options = {}, int threads = 2, int stop_after = -1,
              const std::function<double(const ProbeRequest&, double call)>& cpu_share = {},
              std::span<const CacheLevel> levels = caches) {
  Course out;
  options.progress = [&](double share, const std::string& what) {
    out.progress.emplace_back(share, what);
  };
  if (stop_after >= 0) {
    options.should_stop = [&, stop_after] {
      return static_cast<int>(out.progress.size()) >= stop_after;
    };
  }
  std::map<std::tuple<int, std::string, std::string, int, std::int64_t>, double> calls;
  const ProbeFunction probe = [&](const ProbeRequest& request) {
    out.asked.push_back(request);
    if (request.kind == ProbeKind::peak_paths) {
      return ProbeAnswer{.paths = {{"f32_vector", "avx2", Dtype::f32},
                                   {"f32_vector", "avx512_core", Dtype::f32},
                                   {"none", "", Dtype::bf16}},
                         .rates = {},
                         .reason = {}};
    }
    if (request.path == "none") return ProbeAnswer{.paths = {}, .rates = {}, .reason = "absent"};
    double& call = calls[{static_cast<int>(request.kind), request.path, request.isa,
                          request.threads, request.working_set_bytes}];
    call += 1;
    const double of_kind = 1e9 * (1 + static_cast<double>(request.kind)) * request.threads;
    return ProbeAnswer{.paths = {},
                       .rates = {of_kind + 2 * call, of_kind + 2 * call + 1, of_kind},
                       .reason = {},
                       .cpu_share = cpu_share ? cpu_share(request, call) : 1};
  };
  fill_peaks(options, probe, threads, levels, 256 * mib, out.device);
  return out;
}

std::vector<ProbeRequest> of_kind(const Course& c, ProbeKind kind) {
  std::vector<ProbeRequest> out;
  for (const ProbeRequest& r : c.asked) {
    if (r.kind == kind) out.push_back(r);
  }
  return out;
}

TEST(ProbeCourse, every_figure_is_probed_in_two_passes_by_one_thread_and_by_all) {
  const Course c = course({}, 4);
  ASSERT_EQ(of_kind(c, ProbeKind::clock).size(), 1u);
  EXPECT_EQ(of_kind(c, ProbeKind::peak).size(), 2u * 2 * 3);
  EXPECT_EQ(of_kind(c, ProbeKind::copy).size(), 2u * 2 * 4);
  EXPECT_EQ(of_kind(c, ProbeKind::slices).size(), 2u * 2);
  const auto plateau = of_kind(c, ProbeKind::read).size() - 2u * 2 * 4;
  EXPECT_EQ(plateau, 2u) << "64 and 128 MiB";
  std::map<int, int> by_threads;
  for (const ProbeRequest& r : of_kind(c, ProbeKind::peak)) ++by_threads[r.threads];
  EXPECT_EQ(by_threads, (std::map<int, int>{{1, 6}, {4, 6}}));
  EXPECT_EQ(of_kind(course({}, 1), ProbeKind::peak).size(), 2u * 3);
}

TEST(ProbeCourse, working_sets_are_half_a_cache_per_thread_and_shared_ones_bounded) {
  const Course c = course({}, 4);
  std::map<std::pair<std::string, int>, std::int64_t> of_level;
  for (const Bandwidth& b : c.device.bandwidths) {
    of_level[{b.level + ' ' + b.access, b.threads}] = b.working_set_bytes;
  }
  EXPECT_EQ(of_level.size(), 2u * (4 * 2 + 1));
  const std::tuple<std::string, int, std::int64_t> rows[] = {
      {"l1", 1, 24 * 1024}, {"l1", 4, 4 * 24 * 1024}, {"l2", 4, 4 * mib},
      {"l3", 1, 32 * mib},  {"l3", 4, 32 * mib},      {"memory", 4, 256 * mib}};
  for (const auto& [level, threads, bytes] : rows) {
    for (const char* access : {" copy", " read"}) {
      EXPECT_EQ(of_level.at({level + access, threads}), bytes) << level << access;
    }
  }
  for (const int threads : {4, 1}) EXPECT_EQ(of_level.at({"memory slices", threads}), 256 * mib);
}

// A window holds two passes at 4 GB/s; never less than 5 ms.
TEST(ProbeCourse, windows_follow_from_the_set_and_from_how_quick_it_has_to_be) {
  for (const bool is_quick : {true, false}) {
    const Course c = course({.is_quick = is_quick});
    EXPECT_EQ(of_kind(c, ProbeKind::clock)[0].windows, is_quick ? 10 : 100);
    for (const ProbeRequest& r : of_kind(c, ProbeKind::peak)) {
      EXPECT_EQ(r.windows, is_quick ? 6 : 50);
      EXPECT_EQ(r.window_ms, 10);
    }
    for (const ProbeRequest& r : of_kind(c, ProbeKind::copy)) {
      EXPECT_EQ(r.windows, is_quick ? 3 : 15);
      const double two_passes_ms = 2 * static_cast<double>(r.working_set_bytes) / 4e9 * 1e3;
      EXPECT_DOUBLE_EQ(r.window_ms, std::max(5.0, two_passes_ms));
    }
    for (const ProbeRequest& r : of_kind(c, ProbeKind::slices)) {
      EXPECT_EQ(r.windows, 64);
      EXPECT_EQ(r.window_ms, 10);
      EXPECT_EQ(r.working_set_bytes, 256 * mib);
    }
    const ProbeRequest plateau = of_kind(c, ProbeKind::read).back();
    EXPECT_EQ(plateau.windows, 3);
    EXPECT_EQ(plateau.threads, 2);
    EXPECT_DOUBLE_EQ(plateau.window_ms, std::max(10.0, 2 * 128.0 * mib / 4e9 * 1e3) / 2);
  }
}

TEST(ProbeCourse, figures_are_settled_over_both_passes) {
  const Course c = course({.date_utc = "2026-11-22T15:04:05Z"});
  EXPECT_EQ(c.device.clock_hz, 1e9 * (1 + static_cast<double>(ProbeKind::clock)) + 3);
  ASSERT_EQ(c.device.peaks.size(), 4u) << "what gave no rate has no figure";
  for (const Peak& p : c.device.peaks) {
    const double base = 1e9 * (1 + static_cast<double>(ProbeKind::peak)) * p.threads;
    const std::vector<double> rates = {base + 2, base + 3, base, base + 4, base + 5, base};
    EXPECT_EQ(p.path, "f32_vector");
    EXPECT_EQ(p.dtype, Dtype::f32);
    EXPECT_EQ(p.source, "measured 2026-11-22T15:04:05Z");
    ASSERT_EQ(p.occasions.size(), 1u);
    EXPECT_EQ(p.occasions[0].utc, "2026-11-22T15:04:05Z");
    EXPECT_EQ(p.occasions[0].probes, 6);
    EXPECT_EQ(p.occasions[0].highest, (std::vector<double>{base + 5, base + 4, base + 3}));
    EXPECT_EQ(p.occasions[0].median, median(rates));
    EXPECT_EQ(p.flops_per_s, base + 5) << "the highest of a single occasion";
    EXPECT_TRUE(p.is_provisional);
    EXPECT_DOUBLE_EQ(p.flops_per_s_q90.value(), quantile(rates, 0.9));
  }
  for (const Bandwidth& b : c.device.bandwidths) {
    EXPECT_EQ(b.source, "measured 2026-11-22T15:04:05Z, " + b.access);
    EXPECT_EQ(b.occasions.at(0).probes, 6);
    EXPECT_EQ(b.bytes_per_s, b.occasions[0].highest.front());
    EXPECT_TRUE(b.is_provisional);
  }
  EXPECT_EQ(course().device.peaks.at(0).source, "measured");
  // Rates hardly differ between 64 and 128 MiB.
  EXPECT_EQ(c.device.ring_plateau_bytes, 80 * mib);
}

// A neighbour that has gone by the second pass disturbs nothing; one that stays marks the figure.
TEST(ProbeCourse, figures_are_busy_where_both_passes_were) {
  const auto share = [](const ProbeRequest& request, double call) {
    if (request.kind == ProbeKind::peak && request.threads == 2) return 0.94;
    return call < 2 ? 0.5 : 0.96;
  };
  const Course c = course({}, 2, -1, share);
  for (const Peak& p : c.device.peaks) {
    EXPECT_EQ(p.occasions.at(0).is_busy, p.threads == 2) << p.threads;
    EXPECT_EQ(p.occasions[0].probes, 6);
  }
  for (const Bandwidth& b : c.device.bandwidths) EXPECT_FALSE(b.occasions.at(0).is_busy);
}

TEST(ProbeCourse, progress_is_a_share_of_all_steps) {
  const Course c = course();
  const std::size_t steps = 2 * 2 * (3 + 2 * 4 + 1) + 1;
  ASSERT_EQ(c.progress.size(), steps);
  for (std::size_t i = 0; i < steps; ++i) {
    EXPECT_DOUBLE_EQ(c.progress[i].first, static_cast<double>(i) / static_cast<double>(steps)) << i;
  }
  EXPECT_EQ(c.progress.front().second, "f32_vector avx2, 1 threads");
  EXPECT_EQ(c.progress[3].second, "l1 copy, 1 threads");
  EXPECT_EQ(c.progress[4].second, "l1 read, 1 threads");
  EXPECT_EQ(c.progress[11].second, "memory slices, 1 threads");
  EXPECT_EQ(c.progress.back().second, "ring plateau");
}

TEST(ProbeCourse, a_stop_keeps_what_was_measured_and_asks_no_further) {
  const Course none = course({}, 2, 0);
  EXPECT_TRUE(none.device.peaks.empty());
  EXPECT_TRUE(none.device.bandwidths.empty());
  EXPECT_FALSE(none.device.ring_plateau_bytes);
  EXPECT_TRUE(none.device.clock_hz);
  const Course some = course({}, 2, 4);
  EXPECT_EQ(some.progress.size(), 4u);
  EXPECT_EQ(some.device.peaks.size(), 2u);
  ASSERT_EQ(some.device.bandwidths.size(), 1u);
  EXPECT_EQ(some.device.bandwidths[0].access, "copy");
  EXPECT_FALSE(some.device.ring_plateau_bytes);
  const Course slices = course({}, 1, 5, {}, {});
  EXPECT_EQ(slices.device.bandwidths.size(), 2u);
}

TEST(Caches, every_unit_and_level_is_read_and_nothing_else) {
  const std::vector<std::string> texts{"L3 unified 1G",    "L2 unified 3M", "L1 data 7K",
                                       "L4 side 5",        "L10 far 9K",    "L1 instruction 32K",
                                       "L2 unified 2 MiB", "l1 data 48K",   "L1",
                                       "L1 data",          "L1 data 0K",    "LL 5K"};
  const auto found = parse_caches(texts);
  const std::vector<std::pair<int, std::int64_t>> expected = {
      {1, 7 * 1024},   {1, 5 * 1024}, {2, 3 * mib},  {2, 2 * mib},
      {3, 1024 * mib}, {4, 5},        {10, 9 * 1024}};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::ranges::count(expected, std::pair(found[i].level, found[i].bytes)), 1) << i;
    if (i > 0) {
      EXPECT_LE(found[i - 1].level, found[i].level);
    }
  }
}

// 3 % either way of the rate before.
TEST(RingPlateau, a_change_of_less_than_three_percent_is_none) {
  for (const auto& [change, doublings] :
       {std::pair(0.971, 0), std::pair(0.969, 4), std::pair(1.029, 0), std::pair(1.031, 4)}) {
    const ProbeFunction probe = [&, change = change](const ProbeRequest& r) {
      const double steps = std::log2(static_cast<double>(r.working_set_bytes) / (64.0 * mib));
      return ProbeAnswer{.paths = {}, .rates = {1e10 * std::pow(change, steps)}, .reason = {}};
    };
    EXPECT_EQ(find_ring_plateau(probe, 1, 4096 * mib), 80 * mib << doublings) << change;
  }
}

// A size that gave no rate is passed over; the next is set against the last that had one.
TEST(RingPlateau, a_size_without_a_rate_ends_nothing) {
  const ProbeFunction probe = [](const ProbeRequest& r) {
    if (r.working_set_bytes == 128 * mib) return ProbeAnswer{};
    return ProbeAnswer{.paths = {}, .rates = {5e9}, .reason = {}};
  };
  EXPECT_EQ(find_ring_plateau(probe, 1, 4096 * mib), 160 * mib);
}

}  // namespace
}  // namespace halmark
