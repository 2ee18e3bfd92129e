// The space of a proof as the plan of its run states it, and the configuration that a combination
// of it stands for. Nothing of it is taken from the proof's own space record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/json/json_type.hpp"
#include "model/spec/model_spec.hpp"
#include "verify/front_proof/front_proof_records.hpp"

namespace halmark::front_proof {

class StatedPlan {
 public:
  // Checks that the text is what the header hashed. Throws Broken.
  explicit StatedPlan(const Proof& proof);

  // Domains, constraints, fronts, objectives and backend of the proof are the plan's. Throws
  // Broken.
  void check_space() const;
  // Whether the values of the combination, a level per domain, are those of a problem of the plan.
  bool is_of_a_problem(const std::vector<std::size_t>& levels) const;
  // Throws Broken for a value that means nothing to a configuration.
  Configuration configuration(const std::vector<std::size_t>& levels, const ModelSpec& spec,
                              bool has_bf16) const;

  const std::string& model() const { return model_; }
  const std::string& backend() const { return backend_; }
  // All configurations were looked at when it was made: then it names what it leaves out, and the
  // SHA-256 of the keys of all kernels.
  bool is_whole() const { return is_whole_; }
  const std::set<std::string>& left_out() const { return left_out_; }
  const std::string& kernels_sha256() const { return kernels_sha256_; }
  std::size_t kernel_count() const { return kernel_count_; }

 private:
  using Values = std::vector<std::string>;
  void read(const Json& plan);
  void add_problem(const Json& problem);
  void check_objectives() const;

  const Proof& proof_;
  std::string model_, backend_, kernels_sha256_;
  std::size_t kernel_count_ = 0;
  bool is_whole_ = false;
  std::int64_t routing_skew_ = 0;
  std::set<std::string> left_out_;
  std::vector<std::string> fronts_, objectives_;
  std::vector<Domain> domains_;  // the phase first
  std::vector<ConstraintText> constraints_;
  std::vector<std::map<std::string, Values>> problems_;  // domains of each
};

}  // namespace halmark::front_proof
