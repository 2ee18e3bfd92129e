#include "report/rival_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/json/json.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr const char* no_spread = "these times state no interval";

std::string decision_text(const Rival& r) {
  if (!r.deciding_s) return r.deciding_reason;
  if (*r.deciding_s == 0) return "they are told apart";
  return "about " + duration_text(*r.deciding_s * 1e9) + " of measuring would decide it";
}

Json named_json(const Configuration& configuration, const LabelOf& label) {
  return {{"key", configuration.key()}, {"label", label(configuration)}};
}

}  // namespace

std::string rival_text(const Rival& r, const LabelOf& label) {
  const std::string distance =
      fmt::format("{} {}", percent_text(std::abs(r.behind)), r.behind < 0 ? "ahead of" : "behind");
  const std::string odds = r.probability
                               ? "better with probability " + probability_text(*r.probability)
                               : std::string("not known to be better or worse: ") + no_spread;
  return fmt::format("what would change this choice: {} is {} {} in {} and {}; {}", label(r.rival),
                     distance, label(r.chosen), row_of(r.objective).title, odds, decision_text(r));
}

std::vector<std::string> rival_texts(const RunReport& report, const PhaseView& view) {
  std::vector<std::string> out;
  for (const Rival& r : report.rivals) {
    if (r.chosen.workload.phase != view.phase) continue;
    out.push_back(
        rival_text(r, [&](const Configuration& c) { return deployment_label(c, report); }));
  }
  return out;
}

Json rival_json(const Rival& r, const LabelOf& label) {
  Json out = {{"objective", objective_name(r.objective)},
              {"chosen", named_json(r.chosen, label)},
              {"rival", named_json(r.rival, label)},
              {"is_measured", r.is_measured},
              {"behind", r.behind},
              {"probability", r.probability ? Json(*r.probability) : Json(nullptr)},
              {"deciding_s", r.deciding_s ? Json(*r.deciding_s) : Json(nullptr)}};
  if (!r.probability) out["probability_reason"] = no_spread;
  if (!r.deciding_s) out["deciding_s_reason"] = r.deciding_reason;
  return out;
}

}  // namespace halmark::report
