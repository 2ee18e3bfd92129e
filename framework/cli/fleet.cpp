// halmark agent, fleet and launch: many machines that measure for one database.
#include "fleet/fleet.hpp"
#include "cli/console/session.hpp"
#include "fleet/agent_loop.hpp"
#include "fleet/nodes/node_check.hpp"

namespace halmark::cli {
namespace {

CommandResult execute_agent(const GlobalOptions& global, fleet::AgentOptions o, bool checks) {
  fleet::require_shared(o.url);
  const HeldInterrupts until_it_left;
  LocalMachine machine = local_machine();
  const std::vector<FoundPlugin> found = find_plugins(global);
  if (checks) {
    fleet::NodeCheck check = fleet::check_node({machine, found}, o.url, o.node);
    return {std::move(check.view), check.exit_code};
  }
  ensure_cpu_peaks(global, machine);
  if (interrupted()) return {};
  o.worker_limits = worker_limits_of(global);
  o.stop = interrupts();
  if (!global.quiet) o.say = [](const std::string& line) { write_stderr(line); };
  return fleet::serve_node({machine, found}, o);
}

CommandResult execute_launch(const fleet::LaunchOrder& order) {
  fleet::Launched launched = fleet::launch(order, program_path().string());
  return {std::move(launched.view), launched.are_all_started ? ExitCode::ok : ExitCode::partial};
}

}  // namespace

Action add_agent(OptionSet& app) {
  auto o = std::make_shared<fleet::AgentOptions>();
  app.add_option("url", o->url, "Shared database: postgresql://USER@HOST/DATABASE")->required();
  app.add_option("--node", o->node, "Name of this machine for people (default: its host name)");
  app.add_option("--lease", o->lease_s, "Seconds after which a silent agent's work is free again")
      ->check(within(1.0, 86400.0));
  const auto time = within(0.0, 1e7);
  app.add_option("--idle", o->idle_s, "Idle seconds after which it leaves (0: never)")->check(time);
  app.add_option("--spool", o->spool, "File for rows while the database is away");
  app.add_option("--sentinel", o->sentinel_s, "Seconds of work between looks at it (0: never)")
      ->check(time);
  const auto checks =
      app.add_flag("--check", "Say what it offers, whether work waits for it, and take none");
  return [=](const GlobalOptions& global) { return execute_agent(global, *o, *checks); };
}

Action add_fleet(OptionSet& app) {
  const auto url =
      app.add<std::string>("url", "Shared database: postgresql://USER@HOST/DATABASE").required();
  return [url](const GlobalOptions&) { return fleet::view_of(*url); };
}

Action add_launch(OptionSet& app) {
  auto o = std::make_shared<fleet::LaunchOrder>();
  app.add_option("url", o->url, "Shared database, without a password")->required();
  app.add_option("--slurm", o->slurm, "Submit a job array of this number of exclusive nodes")
      ->check(within(1, 100000));
  app.add_option("--ssh", o->hosts, "Start one agent on each of these hosts")->delimiter(',');
  app.add_option("--kubernetes", o->kubernetes, "Print an Indexed Job of this number of nodes")
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
  return [o](const GlobalOptions&) { return execute_launch(*o); };
}

}  // namespace halmark::cli
