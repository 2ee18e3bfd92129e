#include "rate.hpp"

#include <benchmark/benchmark.h>

#include <vector>

#include "core/numeric/statistics.hpp"

namespace halmark::bench {
namespace {

// Prints nothing; keeps the mean of each repetition.
class MeanReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      seconds_.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  std::vector<double> seconds_;
};

}  // namespace

double seconds_per_call(const std::string& name, const std::function<void()>& call) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [&call](benchmark::State& state) {
                                 for ([[maybe_unused]] auto iteration : state) call();
                               })
      ->UseRealTime()
      ->MinTime(0.2)
      ->Repetitions(5);
  MeanReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  benchmark::ClearRegisteredBenchmarks();
  return median(reporter.seconds());
}

}  // namespace halmark::bench
