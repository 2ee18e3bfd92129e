// halmark agent, fleet and launch: many machines that measure for one database.
#include "fleet/fleet.hpp"
#include "cli/console/session.hpp"
#include "fleet/agent_loop.hpp"
#include "fleet/launch/launch.hpp"
#include "host/process/interrupt.hpp"

namespace halmark::cli {
namespace {

struct FleetLaunch : fleet::LaunchRequest {
  int slurm = 0, kubernetes = 0;
  bool prints = false;
};

CommandResult execute_agent(const GlobalOptions& global, fleet::AgentOptions o) {
  fleet::require_shared(o.url);
  const HeldInterrupts until_it_left;
  LocalMachine machine = local_machine();
  const std::vector<FoundPlugin> found = find_plugins(global);
  ensure_cpu_peaks(global, machine);
  if (interrupted()) return {.exit_code = interrupt_exit_code()};
  tune::NamedDevices devices = fleet::devices_of_node(found, machine);
  o.worker_limits = worker_limits_of(global);
  o.is_interrupted = interrupted;
  if (!global.quiet) o.say = [](const std::string& line) { write_stderr(line); };
  CommandResult out = shown(fleet::serve_node(devices, o));
  if (interrupted()) out.exit_code = interrupt_exit_code();
  return out;
}

CommandResult execute_launch(const FleetLaunch& o) {
  const auto started = [](const std::vector<fleet::Started>& all) {
    CommandResult out = shown(fleet::started_view(all));
    if (!std::ranges::all_of(all, &fleet::Started::is_ok)) out.exit_code = ExitCode::partial;
    return out;
  };
  fleet::LaunchRequest request = o;
  fleet::check_url(request.url);
  if ((o.slurm > 0) + (o.kubernetes > 0) + !o.hosts.empty() != 1) {
    throw refused("agents are launched by one of --slurm, --ssh and --kubernetes", "launch");
  }
  request.nodes = o.slurm + o.kubernetes;
  if (request.program.empty()) request.program = program_path().string();
  if (o.kubernetes > 0) return shown(fleet::text_view(fleet::kubernetes_manifest(request)));
  if (o.prints) {
    return shown(fleet::text_view(o.slurm > 0 ? fleet::slurm_script(request)
                                              : fleet::ssh_line(request) + '\n'));
  }
  if (o.slurm > 0) return started({fleet::submit_to_slurm(request)});
  return started(fleet::start_by_ssh(request));
}

}  // namespace

Action add_agent(OptionSet& app) {
  auto o = std::make_shared<fleet::AgentOptions>();
  app.add_option("url", o->url, "Shared database: postgresql://USER@HOST/DATABASE")->required();
  app.add_option("--node", o->node, "Name of this machine for people (default: its host name)");
  app.add_option("--lease", o->lease_s, "Seconds after which a silent agent's work is free again")
      ->check(within(1.0, 86400.0));
  app.add_option("--idle", o->idle_s, "Seconds without work after which it leaves (0: never)")
      ->check(within(0.0, 1e7));
  app.add_option("--spool", o->spool, "File for rows while the database is away");
  app.add_example("halmark agent postgresql://halmark@db/halmark   this machine measures for it");
  return [o](const GlobalOptions& global) { return execute_agent(global, *o); };
}

Action add_fleet(OptionSet& app) {
  auto url = std::make_shared<std::string>();
  app.add_option("url", *url, "Shared database: postgresql://USER@HOST/DATABASE")->required();
  return [url](const GlobalOptions&) { return shown(fleet::view_of(*url)); };
}

Action add_launch(OptionSet& app) {
  auto o = std::make_shared<FleetLaunch>();
  app.add_option("url", o->url, "Shared database, without a password")->required();
  app.add_option("--slurm", o->slurm, "Submit a job array of so many exclusive nodes")
      ->check(within(1, 100000));
  app.add_option("--ssh", o->hosts, "Start one agent on each of these hosts")->delimiter(',');
  app.add_option("--kubernetes", o->kubernetes, "Print an Indexed Job of so many nodes")
      ->check(within(1, 100000));
  app.add_option("--image", o->image, "Of Kubernetes: image that has halmark and its plugins");
  app.add_option("--partition", o->partition, "Of Slurm: partition");
  app.add_option("--constraint", o->constraint, "Of Slurm: features of the nodes, 'h100&nvlink'");
  app.add_option("--gres", o->gres, "Of Slurm: devices of each node, gpu:8");
  app.add_option("--time", o->time_limit, "Of Slurm: limit of a job, 2:00:00");
  app.add_option("--program", o->program, "halmark on the nodes (default: where this one is)");
  app.add_option("--idle", o->idle_s, "Seconds without work after which agents leave")
      ->check(within(0.0, 1e7));
  app.add_option("--lease", o->lease_s, "Seconds after which a silent agent's work is free again")
      ->check(within(1.0, 86400.0));
  app.add_flag("--print", o->prints, "Print what Slurm or ssh would get, and start nothing");
  app.add_example("halmark launch postgresql://halmark@db/halmark --slurm 4 --constraint h100");
  return [o](const GlobalOptions&) { return execute_launch(*o); };
}

}  // namespace halmark::cli
