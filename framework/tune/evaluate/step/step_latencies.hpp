// Times of the operators of one step, from the sources that a user names, for a simulation of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step/priced_step.hpp"
#include "tune/evaluate/step/step_run.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

class StepLatencies {
 public:
  // `sources`: as --latency has them; none = the roofline of the step's device. Of journal:FILE the
  // operators of this configuration count where halmark run has executed it, else single kernels;
  // what they do not know is asked of the others, and of the roofline where no other is named.
  // Collectives go over `topology` where nothing more trusted knows them; null: over the device's
  // own link. Refers to the step.
  // Throws Error (exit 2) as priced_latencies and step_run do.
  StepLatencies(const PricedStep& step, const std::vector<std::string>& sources,
                const std::vector<std::filesystem::path>& devices,
                const fabric::Topology* topology);

  std::optional<Latency> of_operator(std::size_t index) const;
  std::optional<Latency> of_collective(const Problem& problem, const Work& work,
                                       std::int64_t stride) const {
    return priced_->chain.latency(problem, work, stride);
  }
  std::vector<std::string> sources() const;  // one line each
  // Whether anything but bounds may speak.
  bool has_expectation() const { return run_ || !priced_->chain.has_only(SourceKind::roofline); }
  const std::optional<StepRun>& run() const { return run_; }
  // That was asked for around the step.
  const std::optional<StepEngine>& engine() const { return engine_; }

 private:
  const PricedStep& step_;
  std::optional<StepRun> run_;
  std::optional<PricedLatencies> priced_;
  std::optional<StepEngine> engine_;
};

}  // namespace halmark::tune
