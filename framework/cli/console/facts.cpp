// Options that several commands share become values here, so that the same words mean the same
// configuration in all of them.
#include "cli/console/facts.hpp"

#include "core/text/url.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::cli {

Device known_device(const std::string& id) {
  return halmark::known_device(id, config_dirs("devices"));
}

std::string database_path(const GlobalOptions& options) {
  return options.db.empty() ? (state_dir() / "halmark.db").string() : options.db;
}

std::string files_beside(const GlobalOptions& options) {
  return is_postgresql_url(options.db) ? database_path({}) : database_path(options);
}

void add_deployment_options(OptionSet& app, DeploymentOptions& options) {
  app.add_option("--phase", options.phase, "prefill, decode or training");
  app.add_option("--batch", options.batch, "Sequences in flight over the whole deployment");
  app.add_option("--new-tokens", options.new_tokens,
                 "New tokens a sequence (prefill and training; default 512)");
  app.add_option("--context", options.context, "Keys that the last query sees (default 1024)");
  app.add_option("--tp", options.tp, "Tensor parallel ranks");
  app.add_option("--pp", options.pp, "Pipeline stages");
  app.add_option("--stages", options.stages,
                 "Layers of each stage: 10,18; else as equal as they go")
      .delimiter(',');
  app.add_option("--dp", options.dp, "Data parallel replicas");
  app.add_option("--ep", options.ep, "Expert parallel ranks");
  app.add_option("--routing-skew", options.routing_skew,
                 "Uneven use of experts: 100 x exponent of the power law over their loads")
      ->check(within(0, 1000));
  app.add_option("--expert-imbalance", options.expert_imbalance,
                 "Load of the fullest expert rank: balanced, uniform (what uniform routing gives) "
                 "or a factor");
  app.add_option("--dtype", options.dtype, precision_help());
  app.add_option("--precision", options.precision,
                 "Kinds in another type than --dtype has them: kv_cache=f8_e4m3fn,head=bf16");
}

void add_node_options(OptionSet& app, tune::AskedNodes& nodes, const std::string& what) {
  app.add_option("--mpi-hosts", nodes.hosts,
                 what + " these nodes of one MPI job: n1:2,n2:2 or slurm:2");
  app.add_option("--mpi-listen", nodes.listen,
                 "With --mpi-hosts: the address of this machine to which the ranks come");
}

}  // namespace halmark::cli
