// halmark simulate plan: which shard holds what of a model, and what a step of it takes.
#include <memory>

#include "cli/console/session.hpp"
#include "pages/simulate/sharding_page.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/shards/shard_planning.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::cli {

Action add_simulate_plan(OptionSet& app) {
  struct Options {
    std::string model;
    std::vector<std::string> devices;
    DeploymentOptions configuration;
    tune::ShardPlanning asked;
    bool reads_journal = false;
    pages::ShardingPage page;
  };
  auto o = std::make_shared<Options>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json")->required();
  app.add_option("--device", o->devices,
                 "Known device, a device file, or this = this machine; several: of each stage")
      .required()
      .delimiter(',');
  app.add_option("--fabric", o->asked.fabric, "What joins the shards (fabric show)");
  app.add_option("--shards", o->asked.shards, "Devices; those of this machine share its cores")
      .check(within(1, 65536));
  app.add_option("--strategy", o->asked.strategy,
                 "auto, or of data,tensor,pipeline,expert,context those that may be used; degrees "
                 "above 1 that are stated are kept");
  add_deployment_options(app, o->configuration);
  app.add_option(
         "--memory", o->asked.memory_fraction,
         "Of a shard's memory, what it may fill (of a GPU that serves 0.9, as engines do, else 1)")
      .check(within(0.01, 1.0));
  app.add_option("--zero", o->asked.zero, "Training: ZeRO stage").check(within(0, 3));
  app.add_flag("--sequence-parallel", o->asked.sequence_parallel, "Training: norms split over tp");
  add_latency_option(app, o->asked.latency);
  app.add_flag("--journal", o->reads_journal,
               "Start from steps that --db holds of this machine, and be corrected by them");
  app.add_flag("--all", o->page.shows_all, "Every layer and layout by itself");
  return [o](const GlobalOptions& global) {
    const ModelSpec spec = load_model(o->model, config_dirs("models"));
    const LocalMachine machine = local_machine();
    std::vector<Device> devices;
    for (const std::string& id : o->devices) {
      if (id == "this" && !machine.measured) {
        throw refused("this machine has no measured figures", "--device",
                      "run halmark peaks first");
      }
      devices.push_back(id == "this" ? *machine.measured : known_device(id));
    }
    o->asked.latency =
        tune::sources_or_default(o->asked.latency, o->configuration.phase == "training");
    o->asked.devices = config_dirs("devices");
    std::unique_ptr<Store> store;
    if (o->reads_journal) store = open_store_read_only(database_path(global));
    o->asked.journal = store.get();
    o->asked.fingerprint = devices.front().is_measured ? machine.fingerprint : "";
    o->page.width = stdout_columns();
    return pages::sharding_page(
        tune::plan_shards(
            spec,
            deployment_from(o->configuration, spec, tune::precision_facts(spec, devices.front())),
            devices, o->asked, config_dirs("fabrics")),
        o->page);
  };
}

}  // namespace halmark::cli
