// halmark tune --sampler certify: measures kernels until no configuration of the sweep can beat the
// front any more, or the budget ends; writes the proof.
#pragma once

#include <memory>
#include <string>

#include "cli/tune_measure.hpp"

namespace halmark::cli {

struct CertifySettings {
  double eps = 0;        // --gap: bounds that are met up to this factor need no measuring
  double safety = 1.05;  // on every peak
  std::string proof;     // path; "" = none is written
};

// A run whose kernels were chosen by the certifier, and what they prove.
class CertifiedRun {
 public:
  CertifiedRun(const TunePlan& plan, const TuneContext& context, const CertifySettings& settings);
  ~CertifiedRun();

  // Within the sweep's budget_s of measuring. Only what was evaluated is in the run.
  TuneRun measure();
  // After front points were run whole (or not): writes the proof and tells what it shows.
  CommandResult conclude(const TuneRun& run) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halmark::cli
