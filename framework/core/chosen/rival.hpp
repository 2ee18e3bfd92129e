// What would change a choice: the configuration that is most likely to be the better one after all.
#pragma once

#include <optional>
#include <string>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"

namespace halmark {

struct Rival {
  Objective objective = Objective::latency;  // by which the choice is compared
  Configuration chosen, rival;
  bool is_measured = false;  // every kernel of both was
  // How much worse the rival is by the figures that are stated, as a share; below 0 = better. Of
  // measured ones the median over joint draws.
  double behind = 0;
  // That it is the better one. Absent: its times state no spread.
  std::optional<double> probability;
  // Of measuring, after which the difference is expected to be two of its deviations; 0 = it is.
  std::optional<double> deciding_s;
  std::string deciding_reason;  // why that is absent
};

}  // namespace halmark
