// A sweep whose kernels were all measured once, measured again from its journal: whoever asks for a
// round of a kernel is given the recorded one, with the seconds that it took.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "child.hpp"
#include "journal/store.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/checkout.hpp"
#include "tune/evaluate/kernel_measurer.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::bench {

// Rows by kernel and round, and the machine that they are of, from two files of tests/data:
// NAME.tsv and NAME.toml.
class RecordedKernels {
 public:
  explicit RecordedKernels(const std::string& name);

  struct Row {
    double median_ns = 0, wall_s = 0;
    bool is_ok = true;
  };
  int rounds() const { return rounds_; }
  // Throws Error (exit 1) for a kernel that was not recorded.
  const Row& row(const KernelCase& kernel_case, int round) const;
  double median_ns(const KernelCase& kernel_case) const;  // of all rounds
  tune::Target target() const;
  bool has_bf16() const { return has_bf16_; }

 private:
  std::map<std::string, std::vector<Row>> rows_;  // by digest of the key
  Device device_;
  int rounds_ = 0, threads_ = 0;
  std::int64_t memory_bytes_ = 0;
  bool has_bf16_ = false;
};

// One replay. `seed` is the sweep's, and says which recorded process is met in which round; rounds
// beyond those that were recorded draw one of them for each stack. `scatter` > 0: instead,
// processes of a quiet machine are drawn about the recorded medians, with that relative deviation,
// 0.7 of the variance common to the kernels of a stack. A search that asks for some kernels of a
// stack pays for all of it, as a campaign does.
class SweepReplay : tune::KernelMeasurer {
 public:
  SweepReplay(const RecordedKernels& recorded, Sweep sweep, std::uint64_t seed, double scatter);

  tune::MeasuredEvaluator& evaluator() { return *evaluator_; }
  const tune::TunePlan& plan() const { return *plan_; }
  double exhaustive_s() const { return exhaustive_s_; }  // of all rounds of all kernels

  // Of each problem, by what all rounds say: every configuration, and its front.
  struct Truth {
    std::vector<Configuration> configurations;
    std::vector<Objectives> figures;
    std::size_t fastest = 0;
  };
  const std::vector<Truth>& truth() const { return truth_; }

  // What the rows of the evaluator, in their order, had shown when: seconds until the loss stays
  // within `share` (of the worse problem; all of the exhaustive sweep where it never is), of all,
  // and whether the fastest of each problem was measured.
  struct Way {
    double within_s = 0, all_s = 0, loss = 1;
    double loss_as_stated = 1;  // from the reference that a search states it from
    bool has_fastest = false;
  };
  Way way(double share);

 private:
  Run begin(const RunInfo& run, bool) override { return {store_->begin_run(run), false}; }
  std::vector<Measurement> measure(std::int64_t run, std::span<const KernelCase> cases,
                                   const MeasureSettings& settings,
                                   const CampaignOptions& options) override;
  // Which recorded round a process of this round is like.
  int recorded_round(const std::string& together, int round) const;
  // Of a process that measures the kernel in this round.
  double median_ns(const KernelCase& kernel_case, const std::string& together, int round) const;
  std::string together(const KernelCase& kernel_case) const;
  void add_truth(const tune::TuneProblem& problem);
  double loss(const std::map<KernelCase, std::vector<double>>& medians, bool is_strict) const;

  ScratchFolder folder_{test::in_build()};
  std::unique_ptr<tune::TunePlan> plan_;
  std::unique_ptr<Store> store_;
  tune::MeasureContext context_;
  tune::AllKernels all_;
  std::unique_ptr<tune::MeasuredEvaluator> evaluator_;
  const RecordedKernels& recorded_;
  std::uint64_t seed_;
  double scatter_;
  std::map<std::string, double> stack_s_;  // of one round of all its kernels, in the mean
  double exhaustive_s_ = 0;
  std::vector<Truth> truth_;
};

}  // namespace halmark::bench
