#include "fleet/nodes/node_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/fleet.hpp"
#include "fleet/fleet_measurer.hpp"
#include "fleet/nodes/peers.hpp"
#include "fleet/sessions.hpp"
#include "report/text/table.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

constexpr std::size_t digits_shown = 12;  // of a hash

// "f32_vector 91.2 GFLOP/s, memory 20.1 GB/s": the best of each over numbers of threads.
std::string peaks_text(const std::optional<Device>& measured) {
  if (!measured) return "not measured yet";
  std::map<std::string, double> best;
  for (const Peak& p : measured->peaks) best[p.path] = std::max(best[p.path], p.flops_per_s);
  std::string out;
  for (const auto& [path, flops] : best)
    out += fmt::format("{} {:.4g} GFLOP/s, ", path, flops / 1e9);
  double memory = 0;
  for (const Bandwidth& b : measured->bandwidths) {
    if (b.level == "memory") memory = std::max(memory, b.bytes_per_s);
  }
  if (memory > 0) return out + fmt::format("memory {:.4g} GB/s", memory / 1e9);
  return out.empty() ? "none in its file" : out.substr(0, out.size() - 2);
}

const FoundPlugin* plugin_named(const NodeFacts& node, const std::string& backend) {
  for (const FoundPlugin& p : node.plugins) {
    if (p.is_loaded() && p.description->name == backend) return &p;
  }
  return nullptr;
}

void add_devices(const NodeFacts& node, report::View& view) {
  report::TextTable table({"device", "class", "plugin", "version", "peaks"});
  view.data["devices"] = Json::array();
  const tune::NamedDevices devices = devices_of_node(node);
  for (const tune::NamedDevice& d : devices.devices()) {
    const FoundPlugin* plugin = plugin_named(node, d.place.backend);
    const std::string version = plugin != nullptr ? plugin->description->plugin_version : "";
    const std::string of_class = classes_of(d.machine.rows_fingerprint).front();
    const std::string peaks = peaks_text(d.machine.measured);
    table.add(
        {d.place.device_text(), of_class, d.plugin_hash.substr(0, digits_shown), version, peaks});
    view.data["devices"].push_back({{"device", d.place.device_text()},
                                    {"class", of_class},
                                    {"plugin_hash", d.plugin_hash},
                                    {"plugin_version", version},
                                    {"peaks", peaks}});
  }
  view.text += table.text();
}

struct Waiting {
  std::int64_t fits = 0, others = 0;
  std::string why;  // the others do not
};

Waiting waiting_for(const Agent& agent, postgresql::Session& session) {
  Waiting out;
  if (!WorkTable::is_there(session) || !WorkTable::is_of_this_version(session)) return out;
  for (const RunProgress& run : WorkTable(session).runs()) {
    const std::string why = pending_reason(run.need, std::span(&agent, 1));
    (why.empty() ? out.fits : out.others) += run.units.ready;
    if (run.units.ready > 0 && !why.empty()) out.why = fmt::format("run {}: {}", run.run, why);
  }
  return out;
}

void judge(const NodeFacts& node, const Agent& agent, postgresql::Session& session,
           NodeCheck& out) {
  std::string said = contradiction_of(node, peers_of(session, node, agent.node));
  const Waiting waiting = waiting_for(agent, session);
  if (agent.places.empty()) {
    out.exit_code = ExitCode::unfit;
    said = "no plugin offers a device here: halmark doctor says why";
  } else if (!said.empty()) {
    out.exit_code = ExitCode::refused;
  } else if (waiting.fits == 0 && waiting.others > 0) {
    out.exit_code = ExitCode::partial;
    said = fmt::format("{} units of work wait and none is for it: {}", waiting.others, waiting.why);
  } else {
    said = waiting.fits > 0 ? fmt::format("{} units of work wait for it", waiting.fits)
                            : std::string("no work waits");
  }
  const bool is_pass = out.exit_code == ExitCode::ok;
  out.view.data["pass"] = is_pass;
  out.view.data["verdict"] = said;
  out.view.data["waiting"] = waiting.fits;
  out.view.data["waiting_for_others"] = waiting.others;
  out.view.text += fmt::format("{}: {}\n", is_pass ? "pass" : "fail", said);
}

}  // namespace

NodeCheck check_node(const NodeFacts& node, const std::string& url, const std::string& name) {
  require_shared(url);
  const std::unique_ptr<postgresql::Session> session = agent_session(url);
  const Agent agent{.node = node_name(name),
                    .offer = {.classes = classes_of(devices_of_node(node).fingerprint()),
                              .plugins = devices_of_node(node).plugins().hashes,
                              .tool = tool_text()},
                    .state = "idle",
                    .places = classes_by_place(node)};
  NodeCheck out;
  out.view.data = {
      {"node", agent.node}, {"classes", agent.offer.classes}, {"tool", agent.offer.tool}};
  out.view.text = fmt::format("node {}, halmark {}\n", agent.node, agent.offer.tool);
  add_devices(node, out.view);
  judge(node, agent, *session, out);
  return out;
}

}  // namespace halmark::fleet
