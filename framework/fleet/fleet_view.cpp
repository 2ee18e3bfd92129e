#include "fleet/fleet_view.hpp"

#include <fmt/format.h>

#include "fleet/fleet_measurer.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::fleet {
namespace {

using report::TextTable;

constexpr double second_ns = 1e9;

std::string state_of(const Agent& agent) {
  if (agent.state == "left" || agent.state == refused_state || is_present(agent)) {
    return agent.state;
  }
  return fmt::format("silent for {}", report::duration_text(agent.silent_s * second_ns));
}

Json json_of(const Agent& a) {
  return {{"id", a.id},
          {"node", a.node},
          {"pid", a.pid},
          {"classes", a.offer.classes},
          {"plugins", a.offer.plugins},
          {"tool", a.offer.tool},
          {"state",
           is_present(a) || a.state == "left" || a.state == refused_state ? a.state : "silent"},
          {"doing", a.doing},
          {"measured", a.measured},
          {"failed", a.failed},
          {"lost", a.lost},
          {"since_s", a.since_s},
          {"silent_s", a.silent_s}};
}

Json json_of(const RunProgress& r, const std::string& waits_for) {
  return {{"run", r.run},
          {"command", r.command},
          {"fingerprint", r.fingerprint},
          {"waiting", r.units.ready},
          {"leased", r.units.leased},
          {"done", r.units.done},
          {"failed", r.units.failed},
          {"per_minute", r.per_minute},
          {"waits_for", waits_for}};
}

std::string agents_text(std::span<const Agent> agents) {
  TextTable table({">agent", "node", "state", ">rows", ">failed", ">lost", "class", "doing"});
  for (const Agent& a : agents) {
    table.add({std::to_string(a.id), a.node, state_of(a), std::to_string(a.measured),
               std::to_string(a.failed), std::to_string(a.lost),
               fmt::format("{}", fmt::join(a.offer.classes, " + ")), a.doing});
  }
  return table.text(report::stdout_columns());
}

}  // namespace

report::View fleet_view(std::span<const Agent> agents, std::span<const RunProgress> runs) {
  report::View out{.data = {{"agents", Json::array()}, {"runs", Json::array()}}};
  for (const Agent& a : agents) out.data["agents"].push_back(json_of(a));
  out.text = agents.empty() ? "no agent was here within a day: halmark agent URL starts one\n"
                            : agents_text(agents);
  TextTable table({">run", ">done", ">leased", ">waiting", ">failed", ">a minute", "command"});
  std::string reasons;
  for (const RunProgress& r : runs) {
    const std::string why =
        r.units.ready > 0 && r.units.leased == 0 ? pending_reason(r.need, agents) : "";
    out.data["runs"].push_back(json_of(r, why));
    table.add({std::to_string(r.run), std::to_string(r.units.done), std::to_string(r.units.leased),
               std::to_string(r.units.ready), std::to_string(r.units.failed),
               report::compact_text(r.per_minute), r.command});
    if (!why.empty()) reasons += fmt::format("run {} waits: {}\n", r.run, why);
  }
  if (!runs.empty()) out.text += '\n' + table.text(report::stdout_columns()) + reasons;
  return out;
}

}  // namespace halmark::fleet
