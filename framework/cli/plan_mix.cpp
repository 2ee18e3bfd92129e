// halmark plan-mix: how many of each device type serve a load at least cost.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "plan/precision.hpp"
#include "plan/served_sweep.hpp"
#include "tune/sizing/device_mix_view.hpp"

namespace halmark::cli {

Action add_plan_mix(OptionSet& app) {
  struct Options {
    tune::MixChoice mix;
    std::string load;
    LoadBucket bucket;
    std::vector<std::string> slo;
    int slices = 8;
  };
  auto o = std::make_shared<Options>();
  app.add_option("model", o->mix.model, "Shipped id, alias, or path of a config.json")->required();
  app.add_option("--devices", o->mix.devices, "Device types, comma-separated: ids or files")
      ->required()
      .delimiter(',');
  app.add_option(
      "--load", o->load,
      "TOML: [[bucket]] input_tokens, output_tokens, requests_per_s; [slo] as in sweeps");
  app.add_option("--input-tokens", o->bucket.request.input_tokens, "One kind of request instead");
  app.add_option("--output-tokens", o->bucket.request.output_tokens, "Answer of a request");
  app.add_option("--rate", o->bucket.requests_per_s, "Requests a second");
  app.add_option("--slo", o->slo, "Levels: ttft_ms=500,tpot_ms=30, keys of a sweep's [slo]")
      .delimiter(',');
  app.add_option("--price", o->mix.prices, "DEVICE=USD an hour, where its file has none")
      .delimiter(',');
  app.add_option("--tp", o->mix.tp, "Devices of one unit that are tried (1,2,4,8)").delimiter(',');
  app.add_option("--dtype", o->mix.dtype, precision_help());
  app.add_option("--latency", o->mix.latency, "Sources of times as of halmark tune (roofline)")
      .delimiter(',');
  app.add_option("--slices", o->slices, "Parts of a kind of request, each on one type (default 8)")
      .check(within(1, 64));
  return [o](const GlobalOptions&) {
    o->mix.slices = o->slices;
    RequestLoad load = tune::asked_load(o->load, o->bucket);
    for (ServiceLevel& level : parse_service_levels(o->slo, "--slo")) {
      load.levels.push_back(std::move(level));
    }
    return shown(tune::device_mix_view(
        tune::mix_devices(o->mix, std::move(load), config_dirs("models"), config_dirs("devices")),
        stdout_columns()));
  };
}

}  // namespace halmark::cli
