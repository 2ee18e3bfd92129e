// What would change a choice, as a sentence and as a document.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/chosen/rival.hpp"
#include "core/json/json_type.hpp"
#include "report/front_view.hpp"

namespace halmark::report {

using LabelOf = std::function<std::string(const Configuration&)>;

// "what would change this choice: b1 bf16 tp2 is 3.1 % behind b1 int8 in latency and better with
// probability 12 %; about 8.2 s of measuring would decide it"
std::string rival_text(const Rival& rival, const LabelOf& label);
// Of the phase of a report, none or one.
std::vector<std::string> rival_texts(const RunReport& report, const PhaseView& view);
Json rival_json(const Rival& rival, const LabelOf& label);

}  // namespace halmark::report
