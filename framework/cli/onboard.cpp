// halmark onboard: this device as a folder that forecasts use, with the error of its forecasts.
#include "onboard/onboard.hpp"

#include <algorithm>
#include <memory>

#include "cli/console/session.hpp"
#include "core/numeric/cast.hpp"
#include "core/version.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "onboard/onboard_view.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const GlobalOptions& global, const onboard::Request& request) {
  check_request(request);
  PluginDevice on = plugin_device(global, request.backend, request.device);
  ensure_peaks(global, on, request.device);
  if (interrupted()) return {};
  const std::string utc = journal::utc_now();
  const onboard::Setting setting = onboard::setting_of(on.machine, *on.plugin.description, request);
  const onboard::Plan plan = onboard::plan(request, setting, utc);
  if (request.only_plan) return onboard::plan_view(plan);
  const auto path = state_dir() / "onboard" / (plan.device.id + ".db");
  MeasuringSession session(global, "onboard", &on.plugin, on.machine);
  session.measuring.progress = {};
  const auto store = open_store(global.db.empty() ? path.string() : global.db);
  const auto say = [&](double done_s, double total_s, const std::string& what) {
    session.progress.step(as_size(done_s), as_size(total_s), 0, what,
                          std::max(0.0, total_s - done_s));
  };
  const auto outcome = onboard::onboard(plan, setting, session.measuring, *store,
                                        {.command = global.command,
                                         .tool_version = tool_version,
                                         .tool_build = tool_build,
                                         .started_utc = utc},
                                        {say});
  session.finish();
  return onboard::outcome_view(plan, outcome);
}

}  // namespace

Action add_onboard(OptionSet& app) {
  auto o = std::make_shared<onboard::Request>();
  app.add_option("--out,-o", o->out, "Name of the device from now on, or the path of its folder")
      ->required();
  app.add_option("--backend", o->backend, "Backend whose kernels are measured");
  app.add_option("--device", o->device, "Device of the backend");
  app.add_option("--dtype", o->dtypes, "Precisions, comma-separated (default: bf16, or f32)")
      ->delimiter(',');
  app.add_option("--minutes", o->minutes, "At most so long, earlier calls included")
      ->check(within(0.5, 1440.0));
  app.add_option("--goal", o->goal, "Ends before, where half of what is kept back is within this")
      ->check(within(0.001, 1.0));
  app.add_option("--seed", o->seed, "Of what is kept back");
  app.add_flag("--plan", o->only_plan, "Say what would be measured and forecast, and end");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
