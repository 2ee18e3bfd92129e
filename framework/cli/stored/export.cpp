// halmark export: a point of a stored front as what a serving engine starts from, and kernels and
// fronts as other tools read them.
#include <memory>

#include "cli/shared.hpp"
#include "core/numeric/cast.hpp"
#include "deploy/engine/openvino_layer.hpp"
#include "deploy/engine_store.hpp"
#include "export/exchange/exchange.hpp"
#include "export/front_list.hpp"
#include "pages/front/chosen_point.hpp"
#include "tune/stored/optuna_file.hpp"

namespace halmark::cli {
namespace {

struct ExportOptions {
  exports::ExportRequest asked;
  tune::FrontPlace place;
  std::optional<std::int64_t> point;
  std::string pick;
  double alike_percent = 1;
  bool is_of_front = false;
};

CommandResult exchanged(const ExportOptions& o) {
  exports::MetricTable table;
  tune::StoredKernels run;
  if (o.is_of_front || !o.place.study.empty()) {
    table = exports::front_rows(tune::find_front(o.place));
    table.study = [&] { return tune::optuna_front(o.place, o.asked.out); };
  } else {
    run = tune::stored_kernels(o.place, reporting_machine(local_machine()));
    table = exports::kernel_rows(run.report, run.rows);
    table.study = [&] { return tune::optuna_kernels(run.report, run.rows, o.asked.out); };
  }
  return exports::exchanged(o.asked, table);
}

CommandResult execute(const GlobalOptions& global, ExportOptions o) {
  o.place.database = database_path(global);
  o.place.studies = study_location(global);
  if (exports::is_exchange(o.asked.as)) return exchanged(o);
  const SearchedFront front = tune::find_front(o.place);
  if (o.asked.as == "openvino") {
    const auto index = as_size(o.point.value_or(1) - 1);
    const Deployment at = pages::deployment_at(front, index, o.asked);
    return deploy::exported_layer(load_model(front.model, config_dirs("models")),
                                  at.configuration(), o.asked.out);
  }
  o.asked.own_steps = deploy::stored_imports(files_beside(global));
  if (!has_format(o.asked)) return exports::front_list(front, o.alike_percent / 100);
  const Pick pick =
      o.point ? Pick{.index = as_size(*o.point - 1)} : pages::chosen_point(front, o.pick, o.asked);
  return pages::exported_point(front, pick, o.asked);
}

}  // namespace

void add_export_options(OptionSet& app, exports::ExportRequest& o) {
  for (Option option :
       {app.add_option("--as", o.as,
                       "For an engine: " + exports::engine_list() +
                           "; for a cluster: k8s, dynamo, llm-d; " +
                           "a layer for OpenVINO's benchmark app: openvino"),
        app.add_option("--server-version", o.server_version,
                       "The engine's release (default: the latest known)"),
        app.add_option("--engine", o.engine, "Of the forecast, of a cluster: vllm, vllm:0.19.0"),
        app.add_option("--nodes", o.nodes, "With k8s: the nodes of the cluster (*.toml)"),
        app.add_option("--image", o.image,
                       "For a cluster: instead of the image that the engine publishes"),
        app.add_option("--checkpoint", o.checkpoint,
                       "What the engine loads (default: the name of the model on its hub)")}) {
    option.only_output();
  }
}

Action add_export(OptionSet& app) {
  auto o = std::make_shared<ExportOptions>();
  add_export_options(app, o->asked);
  app.add_flag("--overwrite", o->asked.overwrites,
               "Replace scripts and configs that are there with other contents")
      .only_output();
  app.add_option("--point", o->point, "Number of the point; without --as all are listed")
      .check(within(1, 1'000'000));
  app.add_option("--pick", o->pick, std::string("Instead of a number: ") + pick_help)
      .excludes("--point");
  app.add_option("--alike", o->alike_percent,
                 "In the list: percent within which points are one group (default 1)")
      .check(within(0.0, 100.0));
  app.add_option("--study", o->place.study, "The search, by its study (default: the latest)");
  app.add_option("--run", o->place.run, "A run of the database, by its number");
  app.add_flag(
      "--front", o->is_of_front,
      "With " + exports::exchange_list() + ": points of the front, not kernels of the run");
  app.add_option("--out,-o", o->asked.out, "File of the script, or a folder for all files");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
