// halmark plan-mix: how many of each device type serve a load at least cost.
#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "cli/model/model_options.hpp"
#include "plan/precision.hpp"
#include "plan/served_sweep.hpp"
#include "tune/sizing/device_mix_view.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::cli {

Action add_plan_mix(OptionSet& app) {
  const auto mix = std::make_shared<tune::MixChoice>();
  const auto bucket = std::make_shared<LoadBucket>(LoadBucket{.request = usual_request});
  app.add_option("model", mix->model, "Shipped id, alias, or path of a config.json")->required();
  app.add_option("--devices", mix->devices, "Device types, comma-separated: ids or files")
      ->required()
      .delimiter(',');
  const auto file = app.add<std::string>(
      "--load", "TOML: [[bucket]] input_tokens, output_tokens, requests_per_s; [slo] as in sweeps");
  app.add_option("--input,--input-tokens", bucket->request.input_tokens,
                 "One kind of request instead (1000)");
  app.add_option("--output,--output-tokens", bucket->request.output_tokens, "Its answer (200)");
  app.add_option("--rate,--requests-per-s", bucket->requests_per_s, "Requests a second");
  const auto levels = std::make_shared<StatedLevels>();
  add_level_options(app, *levels);
  app.add_option("--price", mix->prices, "DEVICE=USD an hour, where its file has none")
      .delimiter(',');
  app.add_option("--tp", mix->tp, "Devices of one unit that are tried (1,2,4,8)").delimiter(',');
  app.add_option("--dtype", mix->unit.dtype, precision_help());
  mix->unit.latency = tune::default_sources();
  add_latency_option(app, mix->unit.latency);
  const auto slices =
      app.add("--slices", "Parts of a kind of request, each on one type (default 8)", 8)
          .check(within(1, 64));
  return [=](const GlobalOptions&) {
    mix->slices = *slices;
    RequestLoad load = tune::asked_load(*file, *bucket);
    std::ranges::move(service_levels(*levels), std::back_inserter(load.levels));
    return shown(tune::device_mix_view(
        tune::mix_devices(*mix, std::move(load), config_dirs("models"), config_dirs("devices")),
        stdout_columns()));
  };
}

}  // namespace halmark::cli
