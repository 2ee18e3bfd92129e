// halmark fabric: topologies that Halmark knows by name, of a file, or measured here.
#include <memory>

#include "cli/console/session.hpp"
#include "pages/fabric/collectives_page.hpp"
#include "pages/fabric/fabric_page.hpp"
#include "report/report.hpp"
#include "tune/links/fabric_probe.hpp"

namespace halmark::cli {
namespace {

struct ProbeOptions {
  std::string listen, out;
  tune::FabricProbing asked;
};

CommandResult answer(const GlobalOptions& global, const std::string& address) {
  links::Listener listener(links::parse_address(address));
  const auto note = [&](const std::string& line) { say(global, line); };
  note("answering on " + listener.address().text() + " until Ctrl-C");
  answer_clients(listener, interrupted, note);
  return {};
}

CommandResult probe(const GlobalOptions& global, const ProbeOptions& options) {
  if (!options.listen.empty()) return answer(global, options.listen);
  const LocalMachine machine = local_machine();
  tune::FabricProbing asked = options.asked;
  asked.cores = machine.cores;
  asked.memory_bytes = machine.memory_bytes;
  asked.utc = journal::utc_now();
  asked.stop = interrupts();
  if (const auto memory =
          machine.measured ? machine.measured->bandwidth("memory", machine.cores) : std::nullopt) {
    asked.memory_bytes_per_s = memory->bytes_per_s;
  }
  const HeldInterrupts until_reported;
  std::optional<MeasuringSession> session;
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (!plugin.is_loaded() || plugin.description->name != "cpu" || !plugin.description->has_comm)
      continue;
    session.emplace(global, "fabric probe", &plugin, machine);
    session->measuring.peaks = nullptr;
    asked.measuring = session->measuring;
  }
  tune::ProbedFabric probed = tune::probe_fabric(asked);
  if (session) session->finish();
  CommandResult result = std::move(probed.view);
  if (probed.file.empty()) {
    result.text += "interrupted: no fabric file\n";
  } else if (options.out.empty()) {
    result.text += '\n' + probed.file;
  } else {
    write_whole_file(probed.file, options.out);
    result.text += "written to " + options.out + '\n';
  }
  return result;
}

}  // namespace

Action add_fabric(OptionSet& app) {
  auto asked = std::make_shared<pages::CollectivesRequest>();
  OptionSet show =
      app.add_subcommand("show", "What a fabric gives its ranks at each level; alone: all of them");
  show.add_option("fabric", asked->fabric, "One of configs/fabrics, or a fabric file (*.toml)");
  OptionSet collectives = app.add_subcommand(
      "collectives", "The fastest way of each collective by size, against its bound");
  collectives.add_option("fabric", asked->fabric, "As of show")->required();
  collectives.add_flag("--simulate", asked->simulates, "Also message by message over the links");
  collectives.add_option("--groups", asked->groups, "Groups at once, of every Nth rank; simulates");
  auto probing = std::make_shared<ProbeOptions>();
  OptionSet probed = app.add_subcommand(
      "probe", "Measure links and memory of this machine, alone or with a peer, as a fabric file");
  probed.add_option("--peer", probing->asked.peer, "HOST:PORT where --listen answers");
  probed.add_option("--listen", probing->listen, "Answer probes on ADDRESS:PORT until Ctrl-C");
  probed.add_option("--disk", probing->asked.disk, "Folder on the storage that is a tier");
  probed.add_option("--id", probing->asked.id, "Id of the fabric");
  probed.add_option("--out,-o", probing->out, "Fabric file to write (default: printed)");
  return [asked, collectives, probed, probing](const GlobalOptions& global) -> CommandResult {
    if (probed.is_chosen()) return probe(global, *probing);
    const auto folders = config_dirs("fabrics");
    return collectives.is_chosen() ? pages::collectives_page(*asked, folders)
                                   : pages::fabric_page(asked->fabric, folders);
  };
}

}  // namespace halmark::cli
