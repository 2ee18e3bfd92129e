#include "simulate/timeline/timeline.hpp"

namespace halmark::simulate {

std::string_view phase_name(TimelinePhase phase) {
  return phase == TimelinePhase::one_time ? "one_time" : "step";
}

}  // namespace halmark::simulate
