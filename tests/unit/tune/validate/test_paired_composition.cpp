// The sum of kernels that took turns with the run, against sums made by hand.
#include "tune/validate/paired_composition.hpp"

#include <gmock/gmock.h>

#include "tests/unit/tune/recorded_sweep.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::HasSubstr;

// One step of batch 1; kernel i of the sweep takes `row_ns(i)` an execution in its rows.
class Paired {
 public:
  explicit Paired(const std::function<double(std::size_t)>& row_ns)
      : sweep_(decode_sweep("[1]", "[\"latency\"]")) {
    sweep_.record([&](const RecordedKernel& k, Measurement& m) {
      m.duration_ns_median = row_ns(index_of(k.kernel_case));
    });
    sweep_.evaluations();
  }

  std::size_t index_of(const KernelCase& k) const {
    return static_cast<std::size_t>(
        std::ranges::find(sweep_.kernels(), k, &RecordedKernel::kernel_case) -
        sweep_.kernels().begin());
  }
  const std::vector<RecordedKernel>& kernels() const { return sweep_.kernels(); }
  const Composer& composer() {
    return *sweep_.evaluator().composers().of(sweep_.configuration(1)).composer;
  }
  const LatencySource& source() { return sweep_.evaluator().source(); }

 private:
  RecordedSweep sweep_;
};

TEST(CarryingKernels, are_the_fewest_that_make_up_97_percent) {
  struct Case {
    double largest, second;  // shares of the step; the others share the rest
    std::size_t carrying;
  };
  for (const Case& c : {Case{0.96, 0.02, 2}, Case{0.975, 0.02, 1}, Case{0.60, 0.369, 3}}) {
    const auto share = [&](std::size_t i, std::size_t n) {
      const double rest = (1 - c.largest - c.second) / static_cast<double>(n - 2);
      return i == 1 ? c.largest : i == 3 ? c.second : rest;
    };
    RecordedSweep probe(decode_sweep("[1]", "[\"latency\"]"));
    const std::vector<RecordedKernel> kernels = probe.kernels();
    Paired paired(
        [&](std::size_t i) { return 1e9 * share(i, kernels.size()) / kernels[i].executions; });
    const CarryingKernels found = carrying_kernels(paired.composer(), paired.source());
    EXPECT_EQ(found.cases.size(), c.carrying);
    EXPECT_EQ(paired.index_of(found.cases[0]), 1u);
    EXPECT_GE(found.share, 0.97);
    EXPECT_LE(found.share, 1);
  }
}

// Kernel 1 beside the run, all others from their rows at 1000 ns.
struct Turn {
  double kernel_ns, stack_ns;
  bool is_apart = false;
};

Validation composed(Paired& paired, const std::vector<Turn>& turns) {
  const CarryingKernels beside{.cases = {paired.kernels()[1].kernel_case}, .share = 0.4};
  StackRunResult run{.status = Status::ok, .bytes_per_s = 4e10};
  for (const Turn& t : turns) run.pairs.push_back({t.stack_ns, {t.kernel_ns}, t.is_apart});
  Validation out{.measured_ns = 1};
  compose_pairs(paired.composer(), paired.source(), beside, run, out);
  return out;
}

TEST(PairedComposition, is_the_median_over_pairs_of_the_sum_over_its_run) {
  Paired paired([](std::size_t) { return 1000.0; });
  double others_ns = 0;
  for (const RecordedKernel& k : paired.kernels()) others_ns += 1000 * k.executions;
  const double executions = paired.kernels()[1].executions;
  others_ns -= 1000 * executions;
  const auto sum_ns = [&](double kernel_ns) { return others_ns + executions * kernel_ns; };
  // The machine halves and doubles its speed between pairs; within a pair both sides see it.
  std::vector<Turn> turns;
  const std::vector<double> errors{-0.02, 0.01, 0.10, 0.03, 0.0};
  const std::vector<double> kernel_ns{500, 2000, 1000, 4000, 700};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    turns.push_back({kernel_ns[i], sum_ns(kernel_ns[i]) / (1 + errors[i])});
  }
  turns.push_back({9000, 1, true});
  const Validation v = composed(paired, turns);
  ASSERT_TRUE(v.composition) << v.composition_reason;
  EXPECT_NEAR(v.composition->error, 0.01, 1e-12);
  EXPECT_NEAR(v.composition->error_interval.low, -0.02, 1e-12);
  EXPECT_NEAR(v.composition->error_interval.high, 0.10, 1e-12);
  EXPECT_NEAR(v.composition->composed_ns, sum_ns(1000), 1e-6);
  EXPECT_EQ(v.composition->pairs, 5);
  EXPECT_EQ(v.composition->apart, 1);
  EXPECT_EQ(v.composition->paired_share, 0.4);
  EXPECT_EQ(v.composition->bytes_per_s, 4e10);
}

TEST(PairedComposition, counts_all_pairs_where_too_few_met_one_state) {
  Paired paired([](std::size_t) { return 1000.0; });
  const Turn kept{1000, 1e6}, apart{1000, 1e6, true};
  EXPECT_TRUE(composed(paired, {kept, apart, kept, kept}).composition);
  const auto unsteady = composed(paired, {kept, apart, apart, kept}).composition;
  ASSERT_TRUE(unsteady);
  EXPECT_FALSE(unsteady->in_one_state);
  EXPECT_EQ(unsteady->pairs, 4);
  EXPECT_EQ(unsteady->apart, 0);
  const auto steady = composed(paired, {kept, apart, apart, kept, kept}).composition;
  EXPECT_TRUE(steady->in_one_state);
  EXPECT_EQ(steady->pairs, 3);
  EXPECT_EQ(steady->apart, 2);
  const Validation v = composed(paired, {kept, apart});
  EXPECT_FALSE(v.composition);
  EXPECT_THAT(v.composition_reason, HasSubstr("2 pairs"));
}

}  // namespace
}  // namespace halmark::tune
