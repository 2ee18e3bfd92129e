// halmark record: what this machine reaches of its peaks, measured now or taken from a database, as
// one file.
#include "cli/console/session.hpp"
#include "history/view/record_view.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/kernel_sweep.hpp"
#include "tune/devices/record_run.hpp"

namespace halmark::cli {
namespace {

struct RecordOptions {
  std::string from, out;
  tune::RecordRequest request;
};

CommandResult measured(const GlobalOptions& global, RecordOptions& o) {
  const auto sweep = read_tune_file(named_sweep("record", config_dirs("sweeps")));
  PluginDevice on = plugin_device(global, o.request.backend, o.request.device);
  if (o.request.backend == "cpu") ensure_cpu_peaks(global, on.machine);
  if (interrupted()) return {};
  MeasuringSession session(global, "record", &on.plugin, on.machine);
  session.keep({.is_asked = true});
  o.request.kernels = std::get<KernelSweep>(sweep).kernels;
  tune::measure_for_record(o.request, session.machine, session.measuring, *session.kept,
                           config_dirs("models"));
  session.finish();
  if (interrupted()) return {};
  return history::write_record(database_path(global), session.kept->run(), o.out);
}

}  // namespace

Action add_record(OptionSet& app) {
  const auto o = std::make_shared<RecordOptions>();
  app.add_option("--out,-o", o->out, "File to write")->required();
  app.add_option("--from", o->from, "Of what this database or FILE.db:RUN has; measures nothing");
  app.add_option("--minutes", o->request.minutes, "To measure, about (default 20)")
      ->check(within(0.1, 600.0))
      ->excludes("--from");
  app.add_option("--backend", o->request.backend, "Backend to measure")->excludes("--from");
  app.add_option("--device", o->request.device, "Device of the backend")->excludes("--from");
  return [o](const GlobalOptions& global) -> CommandResult {
    require_writable(o->out, "--out");
    if (o->from.empty()) return measured(global, *o);
    return history::write_record(o->from, {}, o->out);
  };
}

}  // namespace halmark::cli
