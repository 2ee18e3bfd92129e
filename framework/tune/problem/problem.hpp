// TuneProblem: a sweep as one value. What may be chosen is a space of parameters that stand apart,
// with its constraints as text; at(point) is the configuration that a point stands for; objectives
// are rows of one table. Every search, the counts of a plan and the proof of a front take it from
// here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"
#include "core/json/json_type.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/sweep.hpp"
#include "search/space/space.hpp"

namespace halmark::tune {

class TuneProblem {
 public:
  // What one parameter of a space sets. Parameters are applied in the order of the domains.
  using Set = std::function<void(Configuration&, const ParamValue&)>;

  TuneProblem(std::string name, SpaceDescription description, std::vector<Set> setters,
              Configuration base, std::vector<Objective> objectives,
              std::vector<ServiceLevel> levels);

  // "decode", "prefill" or "requests": configurations of different problems never compare.
  const std::string& name() const { return name_; }
  const Space& space() const { return *space_; }
  // Domains and constraints as text: what is hashed, printed and proved.
  const SpaceDescription& description() const { return *description_; }
  std::span<const Objective> objectives() const { return objectives_; }
  // Limits that a configuration must keep to be on the front.
  std::span<const ServiceLevel> levels() const { return levels_; }
  bool is_served() const { return base_.served.has_value(); }

  Configuration at(const Point& point) const;
  Json json() const;         // parameters, constraints, number of configurations
  std::string hash() const;  // SHA-256 of it
  // The same with further constraints.
  TuneProblem with(std::vector<StatedConstraint> constraints) const;

 private:
  std::string name_;
  // Behind pointers: samplers refer to the space, and problems are moved about.
  std::shared_ptr<const SpaceDescription> description_;
  std::shared_ptr<const Space> space_;
  std::vector<Set> setters_;  // by domain
  Configuration base_;
  std::vector<Objective> objectives_;
  std::vector<ServiceLevel> levels_;
};

// One problem for each phase of the sweep's workloads, decode first, or the one of its requests.
// `shards`: numbers of devices that a configuration may take. Throws Error (exit 2) for a sweep
// none of whose combinations is possible, and for what its model does not have.
std::vector<TuneProblem> problems_of(const Sweep& sweep, const ModelSpec& spec,
                                     std::span<const std::int64_t> shards,
                                     const PrecisionFacts& precisions);

}  // namespace halmark::tune
