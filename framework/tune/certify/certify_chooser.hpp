// Measures kernels until no configuration can beat the front any more, or the budget ends: the
// certifier as the chooser of kernels of a measured sweep.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "search/certify/certificate.hpp"
#include "search/certify/proof.hpp"
#include "tune/certify/certify_problem.hpp"
#include "tune/evaluate/kernel_chooser.hpp"

namespace halmark::tune {

struct CertifySettings {
  // Rows of the run that nothing asks for now count too: what is compared with the journal must not
  // call them unmeasured.
  bool tells_stored = true;
  double eps = 0;        // --gap: bounds that are met up to this factor need no measuring
  double safety = 1.05;  // on every peak
  std::string proof;     // path; "" = none is written
  std::string model;     // JSON text of the model's configuration, for the proof; "" = not known
};

// What was proved when a share of the predicted measuring time of all kernels was spent.
struct ProvedSoFar {
  double share = 0;
  ProvedGap gap;
};

class CertifyChooser : public KernelChooser {
 public:
  // `stop` is looked at between batches of kernels. The plan must outlive it.
  CertifyChooser(const TunePlan& plan, const CertifySettings& settings, std::stop_token stop);

  // Rows that the run has. Whatever it has a time of is told in the end, asked for or not: a proof
  // calls nothing unmeasured that was measured.
  using StoredRows = std::function<std::vector<Measurement>()>;
  void know_rows(StoredRows rows) { stored_rows_ = std::move(rows); }

  // Within the sweep's budget_s of measuring.
  void measure(std::span<const Configuration> configurations, Composers& composers,
               MeasuredSource& source) override;

  // True when each of its kernels was measured or has failed: only then it has figures.
  bool is_decided(std::uint64_t combination) const;
  // Throws Error (exit 1) unless the formulas of the proof say what the model says of `e`.
  void check(std::uint64_t combination, const Evaluation& e, const MeasuredSource& source) const;

  const StepsToCertify& steps() const { return steps_; }
  const Certifier& certifier() const { return certifier_; }
  const CertifySettings& settings() const { return settings_; }
  const ProofFacts& facts() const { return facts_; }
  ProofFacts& facts() { return facts_; }
  std::span<const ProvedSoFar> history() const { return history_; }
  double cost_share() const { return cost_so_far_ / cost_of_all_; }
  double measured_s() const { return measured_s_; }
  double budget_s() const { return plan_.sweep().budget_s; }
  bool is_budget_spent() const { return measured_s_ >= budget_s(); }

 private:
  void tell(std::int32_t kernel, const MeasuredSource& source);
  bool ask_and_measure(MeasuredSource& source);
  bool tell_stored(MeasuredSource& source);

  const TunePlan& plan_;
  CertifySettings settings_;
  std::stop_token stop_;
  StepsToCertify steps_;
  Certifier certifier_;
  ProofFacts facts_;
  StoredRows stored_rows_;
  double cost_of_all_ = 0, cost_so_far_ = 0, measured_s_ = 0;
  std::vector<ProvedSoFar> history_;
};

}  // namespace halmark::tune
