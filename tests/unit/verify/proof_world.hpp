// A whole world behind a proof: a model, a machine with peaks, the plan of a sweep, and a journal
// with the rows of what was measured. Claims about it can be bent before they are written, so that
// a false proof is as consistent with itself as a true one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "search/certify/proof.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/certify/certify_problem.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark::test {

struct Rounds {
  std::vector<double> medians;
  std::vector<int> rounds;
};

// What a proof is written from.
struct Claim {
  CertifiableProblem problem;
  ProofFacts facts;
  std::map<std::int32_t, Rounds> told;         // by kernel
  std::map<std::int32_t, std::string> failed;  // by kernel: why
};

// Certifies what is told, and writes it.
std::string written(const Claim& claim);
std::size_t front_size(const std::string& proof);
// The same as version 1 of the format had it, which states nothing of what it is about.
std::string without_context(const std::string& proof);
// The record of a kind in the context of a claim.
Json& context_of(Claim& claim, const std::string& kind);

class ProofWorld {
 public:
  // `batches`, "[1, 64]"; `layers` of the model; `flops_per_s` of the machine's one peak.
  explicit ProofWorld(const std::string& batches = "[1, 64]", int layers = 3,
                      double flops_per_s = 1e9,
                      const std::string& objectives = R"(["latency", "memory"])");

  const Claim& truth() const { return truth_; }
  const tune::TunePlan& plan() const { return *plan_; }
  const tune::StepsToCertify& steps() const { return steps_; }
  // Kernels that this combination has and no other one of these.
  std::vector<std::int32_t> own_kernels(std::uint64_t combination) const;
  std::uint64_t front_point() const;  // the first combination of the true front

  const std::string& journal() const { return journal_; }
  FrontProofCheck check(const std::string& proof) const;  // with the journal
  static FrontProofCheck check_alone(const std::string& proof);

 private:
  void measure();
  void store() const;

  ScratchFolder folder_;
  std::string journal_ = folder_ / "a.db";
  std::unique_ptr<tune::TunePlan> plan_;
  tune::StepsToCertify steps_;
  Claim truth_;
};

}  // namespace halmark::test
