// Which splits of a model are possible, as text: the checks of the model, compiled into expressions
// over the parameters of a space. One statement serves every search, the counts of a plan and the
// proof of a front.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/search_domain.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark::tune {

// What the degrees of one group of ranks are called in a space.
struct DegreeNames {
  std::string dp = "dp", tp = "tp", pp = "pp", ep = "ep";
};

// Largest values worth a level, per degree.
struct DegreeLists {
  std::vector<std::int64_t> dp, tp, pp, ep, cp;
};

// "tp in {1, 2, 4}"
std::string member_text(const std::string& parameter, std::span<const std::string> values);
std::string member_text(const std::string& parameter, std::span<const std::int64_t> values);

// Constraints under which `check_configuration` has nothing against a layout of these degrees, each
// named as the refusal that it stands for. Not about batches and context parallelism: those depend
// on the load.
std::vector<StatedConstraint> split_rules(const ModelSpec& spec, const Configuration& like,
                                          const DegreeLists& degrees, const DegreeNames& names);

// Without the tensor and expert degrees that no layout of the others can have.
DegreeLists possible_degrees(const ModelSpec& spec, const Configuration& like, DegreeLists degrees);

}  // namespace halmark::tune
