// A measured sweep of a tiny model whose rows a journal has already: what asks for a kernel gets
// what is recorded, and no worker starts. Times follow from the batch of a configuration, so that
// every figure of a step is known by hand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/store.hpp"
#include "plan/sweep.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/certify/conclusion.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/measure.hpp"

namespace halmark::tune::test {

// A kernel of configurations with this batch, and of no other.
struct RecordedKernel {
  KernelCase kernel_case;
  std::int64_t batch = 0;
  double executions = 0;  // in one step of the first of them
};

// "name", "model", "dtypes", "objectives" and one decode workload of these batches.
std::string decode_sweep(const std::string& batches, const std::string& objectives,
                         const std::string& more = "");

class RecordedSweep {
 public:
  // The row of a kernel in a round, from an empty one that is ok.
  using Record = std::function<void(const RecordedKernel&, Measurement&)>;
  static constexpr int recorded_rounds = 12;

  // `measured`: peaks of the machine.
  explicit RecordedSweep(const std::string& toml, std::optional<Device> measured = {});

  const TunePlan& plan() const { return *plan_; }
  Store& store() { return *store_; }
  MeasureContext& context() { return context_; }
  const std::vector<RecordedKernel>& kernels() const { return kernels_; }
  Configuration configuration(std::int64_t batch) const;
  // Of all kernels in one step of this batch.
  double executions(std::int64_t batch) const;

  // Begins the run of the plan and stores its rows.
  std::int64_t record(const Record& record);
  // Every kernel of a batch takes `ns` of (batch, round).
  std::int64_t record_times(const std::function<double(std::int64_t batch, int round)>& ns);

  // After `record`: resumes the run.
  MeasuredEvaluator& evaluator();
  std::vector<Evaluation> evaluations();

 private:
  halmark::test::ScratchFolder folder_;
  std::unique_ptr<TunePlan> plan_;
  std::unique_ptr<Store> store_;
  MeasureContext context_;
  std::vector<RecordedKernel> kernels_;
  AllKernels all_;
  std::unique_ptr<MeasuredEvaluator> evaluator_;
};

// Batches of the points on the certified front.
std::vector<std::int64_t> front_batches(const MeasuredSweep& sweep);
// A certified sweep that was measured, with its run and what is concluded.
struct Certified {
  explicit Certified(RecordedSweep& recorded,
                     const CertifySettings& settings = {.tells_stored = false}, int rounds = 3)
      : sweep(recorded.plan(), recorded.context(), settings),
        run(sweep.measure()),
        report(conclude(*sweep.certifier(), run.id, rounds, {})) {}

  MeasuredSweep sweep;
  TuneRun run;
  CertificateReport report;
};
// Lines of a proof file of one kind.
std::vector<Json> proof_records(const std::string& path, const std::string& kind);

}  // namespace halmark::tune::test
