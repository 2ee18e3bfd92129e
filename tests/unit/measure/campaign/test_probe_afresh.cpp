// Which ceilings a fresh probe asks for, with which working sets, how often, and in which words: a
// crew of one worker and bounds that are written down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fake_campaign.hpp"
#include "measure/campaign/fresh_probe.hpp"

namespace halmark {
namespace {

using roofline::Bound;
using roofline::Level;
using testing::ElementsAre;
using testing::HasSubstr;

struct OneWorker {
  std::unique_ptr<Crew> crew;
  OneWorker() {
    CrewOptions options;
    options.group = case_group(copy_case(64));
    options.plugin_path = fake_plugin_path;
    options.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu";
    auto started = Crew::start(options);
    if (!started) throw std::runtime_error(started.failure.reason);
    crew = std::move(*started);
  }
  int threads() const { return crew->threads(); }
};

Bandwidth ceiling(const std::string& level, int threads, double bytes_per_s, std::int64_t set) {
  return {.level = level,
          .threads = threads,
          .bytes_per_s = bytes_per_s,
          .working_set_bytes = set,
          .access = "read",
          .source = "measured"};
}

RunPeaks peaks_of(std::vector<Bandwidth> bandwidths, std::vector<Peak> peaks = {}) {
  Device device;
  device.bandwidths = std::move(bandwidths);
  device.peaks = std::move(peaks);
  return RunPeaks(std::move(device), [] { return std::string("2026-11-22T15:00:00Z"); });
}

Bound bound_of(std::vector<roofline::Part> parts) {
  Bound out;
  for (const auto& part : parts) out.add(part);
  return out;
}

std::vector<std::string> asked(const RunPeaks& peaks) {
  std::set<std::string> out;
  for (const Bandwidth& b : peaks.seen().bandwidths) out.insert(b.level + " " + b.access);
  return {out.begin(), out.end()};
}

constexpr std::int64_t mib = 1 << 20;
constexpr double ratio = roofline::quarantine_ratio;

// A ceiling of 1 kB/s; the time claims more than that, and less or more than any memory gives.
TEST(ProbeAfresh, asks_on_until_a_probe_reaches_what_the_time_claims) {
  OneWorker w;
  const std::vector<Bandwidth> slow = {ceiling("memory", w.threads(), 1e3, 32 * mib)};
  for (const auto& [bytes, probes] :
       {std::pair(1e4, std::vector<std::string>{"memory slices"}),
        std::pair(1e15, std::vector<std::string>{"memory copy", "memory read", "memory slices"})}) {
    RunPeaks peaks = peaks_of(slow);
    std::string said;
    // Short reads are refused while other processes have the CPUs.
    for (int attempt = 0; attempt < 10 && asked(peaks) != probes; ++attempt) {
      peaks = peaks_of(slow);
      said = probe_afresh(*w.crew, peaks, {},
                          bound_of({{.amount = bytes, .per_s = 1e3, .level = Level::memory}}), 1e9);
    }
    EXPECT_EQ(asked(peaks), probes) << bytes;
    EXPECT_THAT(said, HasSubstr("memory, " + std::to_string(w.threads()) + " threads: "));
    EXPECT_THAT(said, HasSubstr(" GB/s before, "));
    EXPECT_THAT(said, HasSubstr(" GB/s in a fresh probe"));
    for (const Bandwidth& b : peaks.seen().bandwidths) {
      EXPECT_EQ(b.threads, w.threads());
      EXPECT_EQ(b.working_set_bytes, 32 * mib);
      EXPECT_EQ(b.occasions.at(0).probes, 24);
    }
  }
}

// The largest claim of a level counts, wherever it stands.
TEST(ProbeAfresh, takes_the_largest_claim_of_each_level) {
  OneWorker w;
  for (const bool is_first : {false, true}) {
    const std::vector<Bandwidth> slow = {ceiling("memory", w.threads(), 1e3, 32 * mib)};
    RunPeaks peaks = peaks_of(slow);
    // Short reads are refused while other processes have the CPUs.
    for (int attempt = 0; attempt < 10 && asked(peaks).size() != 3; ++attempt) {
      peaks = peaks_of(slow);
      probe_afresh(
          *w.crew, peaks, {},
          bound_of({{.amount = is_first ? 1e15 : 1e4, .per_s = 1e3, .level = Level::memory},
                    {.amount = is_first ? 1e4 : 1e15, .per_s = 1e3, .level = Level::memory}}),
          1e9);
    }
    EXPECT_EQ(asked(peaks).size(), 3u);
  }
}

TEST(ProbeAfresh, asks_of_the_levels_that_the_time_contradicts_alone) {
  OneWorker w;
  const int t = w.threads();
  RunPeaks peaks = peaks_of({ceiling("l1", t, 1e3, 16 << 10), ceiling("l2", t, 1e3, mib),
                             ceiling("l3", t, 1e3, 8 * mib), ceiling("memory", t, 1e3, 32 * mib)});
  // A part is contradicted where it takes more than 1.02 of the time.
  const std::string said = probe_afresh(
      *w.crew, peaks, {},
      bound_of({{.amount = 1e4, .per_s = 1e4, .level = Level::l1},
                {.amount = 1e4, .per_s = 1e4 / (ratio * 1.001), .level = Level::l2},
                {.amount = 1e4, .per_s = 1e4 / (ratio * 0.999), .level = Level::memory}}),
      1e9);
  EXPECT_THAT(asked(peaks), ElementsAre("l2 read"));
  EXPECT_THAT(said, testing::StartsWith("l2, "));
  RunPeaks both = peaks_of({ceiling("l1", t, 1e3, 16 << 10), ceiling("l2", t, 1e3, mib)});
  EXPECT_THAT(probe_afresh(*w.crew, both, {},
                           bound_of({{.amount = 1e4, .per_s = 1e3, .level = Level::l2},
                                     {.amount = 1e4, .per_s = 1e3, .level = Level::l1},
                                     {.amount = 1e4, .per_s = 1e3, .level = Level::l3}}),
                           1e9),
              testing::AllOf(testing::StartsWith("l1, "), HasSubstr("; l2, "),
                             testing::Not(HasSubstr("l3"))));
  EXPECT_EQ(probe_afresh(*w.crew, both, {}, Bound(), 1e9), "");
}

// Sets of private caches grow with the threads; of two figures that of as many threads is taken.
TEST(ProbeAfresh, reads_the_working_set_of_the_ceiling) {
  OneWorker w;
  const int t = w.threads();
  const auto set_of = [&](const std::string& level, Level of, std::vector<Bandwidth> ceilings) {
    RunPeaks peaks = peaks_of(std::move(ceilings));
    probe_afresh(*w.crew, peaks, {}, bound_of({{.amount = 1e4, .per_s = 1e3, .level = of}}), 1e9);
    for (const Bandwidth& b : peaks.seen().bandwidths) {
      if (b.level == level) return b.working_set_bytes;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(set_of("l1", Level::l1, {ceiling("l1", 8, 1e3, 8 * 12'288)}), t * 12'288);
  EXPECT_EQ(
      set_of("l1", Level::l1, {ceiling("l1", 8, 1e3, 8 * 12'288), ceiling("l1", t, 1e3, t * 8192)}),
      t * 8192);
  EXPECT_EQ(
      set_of("l2", Level::l2, {ceiling("l1", t, 1e3, 4096), ceiling("l2", 2 * t, 1e3, 2 * mib)}),
      mib);
  EXPECT_EQ(set_of("l3", Level::l3, {ceiling("l3", 8, 1e3, 8 * mib)}), 8 * mib);
  EXPECT_EQ(set_of("memory", Level::memory, {ceiling("memory", 8, 1e3, 32 * mib)}), 32 * mib);
}

// What did not reach the claim is not asked again for two seconds; what did may have been left.
TEST(ProbeAfresh, is_remembered_where_it_was_in_vain) {
  OneWorker w;
  for (const double bytes : {1e4, 1e15}) {
    RunPeaks peaks = peaks_of({ceiling("memory", w.threads(), 1e3, 32 * mib)});
    const Bound bound = bound_of({{.amount = bytes, .per_s = 1e3, .level = Level::memory}});
    probe_afresh(*w.crew, peaks, {}, bound, 1e9);
    const std::size_t once = peaks.seen().bandwidths.at(0).occasions.at(0).probes;
    probe_afresh(*w.crew, peaks, {}, bound, 1e9);
    const std::size_t twice = peaks.seen().bandwidths.at(0).occasions.at(0).probes;
    EXPECT_EQ(twice, bytes > 1e9 ? once : 2 * once) << bytes;
  }
}

TEST(ProbeAfresh, of_computing_asks_for_the_path_of_the_ceiling) {
  OneWorker w;
  const int t = w.threads();
  Peak peak{.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1.23456e9};
  peak.threads = t;
  RunPeaks peaks = peaks_of({}, {peak});
  Work work;
  work.compute_dtype = Dtype::f32;
  const Bound bound = bound_of({{.amount = 1e10, .per_s = 1e9, .level = Level::compute}});
  const std::string said = probe_afresh(*w.crew, peaks, work, bound, 1e9);
  EXPECT_THAT(said, HasSubstr(std::to_string(t) + " threads: 1.235 GFLOP/s before, "));
  ASSERT_EQ(peaks.seen().peaks.size(), 1u);
  EXPECT_EQ(peaks.seen().peaks[0].threads, t);
  EXPECT_EQ(peaks.seen().peaks[0].occasions.at(0).probes, 24);
  work.compute_dtype = Dtype::s32;
  EXPECT_EQ(probe_afresh(*w.crew, peaks, work, bound, 1e9), "") << "nothing is known of it";
}

}  // namespace
}  // namespace halmark
