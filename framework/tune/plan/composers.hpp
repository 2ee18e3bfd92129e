// The composers of configurations, built when they are asked for and kept.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/text/error.hpp"
#include "model/pricing/composer.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

// One thread.
class Composers {
 public:
  struct Entry {
    std::optional<Composer> composer;
    std::optional<Refusal> refusal;  // why there is none: an impossible split, or out of memory
  };

  // `is_measured`: configurations that no plugin can run are refused. Both must outlive it.
  Composers(const ModelSpec& spec, const Target& target, bool is_measured);

  // References stay valid.
  const Entry& of(const Configuration& configuration);
  // The unique kernels of those that are possible.
  std::vector<KernelCase> kernels(std::span<const Configuration> configurations);
  // The short stacks in which a case in the mode in_stack stands: those of the first configuration
  // asked for that has it; empty when none has.
  std::span<const Stack> stacks_of(const KernelCase& kernel_case);
  const ModelSpec& spec() const { return spec_; }
  const Target& target() const { return target_; }

 private:
  Entry made(const Configuration& configuration) const;

  const ModelSpec& spec_;
  const Target& target_;
  bool is_measured_;
  std::map<Configuration, Entry> entries_;
  std::map<KernelCase, const Composer*> first_with_;  // of the mode in_stack
  std::map<const Composer*, std::vector<Stack>> short_stacks_;
};

// gate_failed where it does not fit into memory, as a search by prices ends; else refused.
ExitCode exit_code_of(const Refusal& refusal);

// A configuration without figures, for the reason of its refusal.
Evaluation refused_evaluation(const Configuration& configuration, const Refusal& refusal);

}  // namespace halmark::tune
