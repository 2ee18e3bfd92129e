#include "core/json/untried_json.hpp"

#include <stdexcept>

#include "core/json/json.hpp"

namespace halmark {

void to_json(Json& out, const Untried& value) {
  out = Json{{"phase", std::string(phase_name(value.phase))},
             {"count", value.count},
             {"reason", value.reason},
             {"could_enter", Json::array()}};
  for (const UntriedConfiguration& u : value.could_enter) {
    out["could_enter"].push_back({{"deployment", u.configuration},
                                  {"step_ns", u.step_ns},
                                  {"tokens_per_s", u.tokens_per_s},
                                  {"memory_bytes_total", u.memory_bytes_total},
                                  {"probability", u.probability}});
  }
}

void from_json(const Json& in, Untried& value) {
  const auto phase = parse_phase(in.at("phase").get<std::string>());
  if (!phase) throw std::invalid_argument("unknown phase");
  value = {.phase = *phase,
           .count = in.at("count").get<std::uint64_t>(),
           .reason = in.at("reason").get<std::string>()};
  for (const Json& u : in.at("could_enter")) {
    value.could_enter.push_back(
        {.configuration = u.at("deployment").get<Configuration>(),
         .step_ns = u.at("step_ns").get<double>(),
         .tokens_per_s = u.at("tokens_per_s").get<double>(),
         .memory_bytes_total = u.at("memory_bytes_total").get<std::int64_t>(),
         .probability = u.at("probability").get<double>()});
  }
}

}  // namespace halmark
