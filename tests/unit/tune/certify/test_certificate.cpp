// What a certificate says of its evidence: the rows behind an interval, joint confidence, runs that
// confirm the composition, and the gap along the way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"
#include "tune/certify/conclusion.hpp"

namespace halmark::tune {
namespace {

using halmark::test::ScratchFolder;
using test::Certified;
using test::decode_sweep;
using test::front_batches;
using test::proof_records;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::HasSubstr;

constexpr const char* certified = "sampler = \"certify\"\n";

// Two of three processes undisturbed: the interval rests on them alone and misses with 1/2.
TEST(Certificate, evidence_is_the_rows_that_the_interval_rests_on) {
  for (const std::size_t ok : {3u, 2u, 1u, 0u}) {
    RecordedSweep recorded(decode_sweep("[1]", "[\"memory\", \"latency\"]", certified));
    recorded.record([&](const RecordedKernel&, Measurement& m) {
      m.duration_ns_median = 1000 + 10 * m.round;
      m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
      if (m.round >= static_cast<int>(ok)) {
        m.status = ok == 0 ? Status::invalid : Status::suspect;
        m.reason = "noisy";
        m.samples.push_back({.wall_ns = 1000});
      }
    });
    const ScratchFolder folder;
    MeasuredSweep sweep(recorded.plan(), recorded.context(),
                        CertifySettings{.tells_stored = false, .proof = folder / "p.hmproof"});
    const TuneRun run = sweep.measure();
    conclude(*sweep.certifier(), run.id, 3, {});
    EXPECT_EQ(proof_records(folder / "p.hmproof", "header").at(0).at("run_objective"), 1);
    for (const Json& kernel : proof_records(folder / "p.hmproof", "kernel")) {
      const bool has_two = ok == 2;
      EXPECT_EQ(kernel.at("confidence"), has_two ? 0.5 : 0.75) << ok;
      EXPECT_EQ(kernel.at("rounds"), has_two ? Json({0, 1}) : Json({0, 1, 2}));
      EXPECT_EQ(kernel.at("medians"), has_two ? Json({1000, 1010}) : Json({1000, 1010, 1020}));
    }
  }
}

TEST(Certificate, six_rounds_have_a_joint_confidence_and_five_have_less) {
  for (const int rounds : {5, 6, 7}) {
    RecordedSweep recorded(decode_sweep(
        "[1]", "[\"latency\"]",
        std::string(certified) + "[measure]\nrounds = " + std::to_string(rounds) + "\n"));
    recorded.record_times([](std::int64_t, int) { return 1000.0; });
    Certified certified_sweep(recorded, {.tells_stored = false}, rounds);
    auto& [sweep, run, report] = certified_sweep;
    const auto kernels = as_double(recorded.kernels().size());
    const double alpha = std::min(1.0, kernels * (rounds == 5 ? 1.0 / 16 : 0.05));
    EXPECT_NEAR(report.data.at("alpha"), alpha, 1e-12);
    if (alpha < 1) {
      EXPECT_THAT(report.text,
                  HasSubstr(fmt::format("hold together with {:.0f} %", (1 - alpha) * 100)));
    }
  }
}

TEST(Certificate, runs_that_overlap_every_point_of_the_front_confirm_the_composition) {
  RecordedSweep recorded(decode_sweep("[1, 2]", "[\"latency\", \"throughput\"]", certified));
  recorded.record_times([](std::int64_t, int round) { return 1000.0 + 10 * round; });
  MeasuredSweep sweep(recorded.plan(), recorded.context(), CertifySettings{.tells_stored = false});
  const TuneRun run = sweep.measure();
  ASSERT_THAT(front_batches(sweep), testing::Contains(2));
  std::vector<Validation> runs;
  for (const Evaluation& e : run.evaluations) {
    const double ns = e.estimate->high_ns;
    runs.push_back({.deployment_key = e.configuration.key(),
                    .measured_ns = ns,
                    .measured_interval_ns = {ns, ns * 1.1}});
  }
  const auto is_confirmed = [&] {
    const CertificateReport report = conclude(*sweep.certifier(), run.id, 3, runs);
    const bool out = report.data.at("composition_confirmed");
    EXPECT_THAT(report.text, HasSubstr(out ? "composition: confirmed by a run of each front point\n"
                                           : "composition: not confirmed"));
    return out;
  };
  EXPECT_TRUE(is_confirmed());
  for (Validation& v : runs) {
    const Validation before = v;
    v.measured_interval_ns.low *= 1.001;
    EXPECT_FALSE(is_confirmed()) << "beyond the composed interval";
    v = before;
    v.status = Status::crashed;
    EXPECT_FALSE(is_confirmed());
    v = before;
    v.deployment_key = "another";
    EXPECT_FALSE(is_confirmed());
    v = before;
  }
}

// The gap that was left when a quarter of the time of all kernels was spent, or after the first
// batch where that took more.
TEST(Certificate, states_the_gap_after_a_quarter_of_the_time_of_all) {
  std::size_t before_quarter = 0, at_quarter = 0, after_quarter = 0;
  std::string batches = "[1, 2";
  for (int most = 3; most <= 8; ++most) {
    batches += ", " + std::to_string(most);
    RecordedSweep recorded(decode_sweep(batches + "]", "[\"latency\"]", certified));
    recorded.record_times([](std::int64_t batch, int) { return 1000 + 10 * as_double(batch); });
    MeasuredSweep sweep(recorded.plan(), recorded.context(),
                        CertifySettings{.tells_stored = false});
    const TuneRun run = sweep.measure();
    const auto history = sweep.certifier()->history();
    ASSERT_FALSE(history.empty());
    ProvedSoFar at = history.front();
    for (const ProvedSoFar& h : history) {
      if (h.share > 0.25) continue;
      at = h;
      before_quarter += h.share <= 0.225;
      at_quarter += h.share > 0.225;
    }
    after_quarter += std::ranges::any_of(
        history, [](const ProvedSoFar& h) { return h.share > 0.25 && h.share <= 0.375; });
    EXPECT_THAT(conclude(*sweep.certifier(), run.id, 3, {}).text,
                HasSubstr(fmt::format("gap after {:.0f} % of the time of all: ", at.share * 100)));
  }
  EXPECT_GT(before_quarter, 0u);
  EXPECT_GT(at_quarter, 0u) << "just below";
  EXPECT_GT(after_quarter, 0u) << "just above";
}

}  // namespace
}  // namespace halmark::tune
