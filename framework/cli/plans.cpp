// halmark plan-size, plan-mix and rank-qpu: devices, energy, cost and carbon of a training run or a
// served load, on paper; how many of each device type serve a load at least cost; which published
// QPU runs a circuit best.
#include <algorithm>
#include <iterator>
#include <memory>

#include "circuit/rank_request.hpp"
#include "cli/console/command.hpp"
#include "plan/precision.hpp"
#include "plan/served_sweep.hpp"
#include "tune/sizing/device_mix_view.hpp"
#include "tune/sizing/plan_size.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::cli {

Action add_plan_size(OptionSet& app) {
  auto o = std::make_shared<tune::PlanSizeQuestion>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json");
  app.add_option("--device", o->device, "Known device (halmark devices --known)");
  app.add_option("--dtype", o->dtype, precision_help());
  app.add_option("--tokens", o->job.tokens, "A training run: tokens in all");
  app.add_option("--sequence", o->job.sequence, "Tokens of a training sequence (4096)");
  app.add_option("--days", o->job.days, "Time for the run; for a load: what the sums cover (1)");
  app.add_option("--devices", o->job.devices, "Devices of the run, instead of --days");
  app.add_option("--requests-per-s", o->job.requests_per_s, "A served load: requests a second");
  app.add_option("--users,--concurrency", o->job.users,
                 "A served load: requests at a time; with --require those of the device (1)");
  app.add_option("--input,--input-tokens", o->job.input_tokens, "Prompt of a request (1000)");
  app.add_option("--output,--output-tokens", o->job.output_tokens, "Answer of a request (200)");
  app.add_option("--mfu", o->job.mfu, "Fraction of the peak, training or prefill (assumed 0.4)");
  app.add_option("--decode-mfu", o->job.decode_mfu,
                 "Fraction of the peak, decode (0.05): a load by MFU instead of forecasts");
  app.add_option("--power-w", o->job.power_w, "Of one busy device (that of the device file)");
  app.add_option("--pue", o->job.pue, "Facility power over device power (1)");
  app.add_option("--price,--price-per-device-hour", o->price, "US dollars: 2.5, or DEVICE=2.5");
  app.add_option("--carbon-g-per-kwh", o->job.carbon_g_per_kwh, "Of your grid");
  app.add_flag("--require", o->requires_device,
               "The least device that keeps --slo for a load, and which of its rates binds");
  add_level_options(app, o->levels);
  app.add_option("--tp", o->tp, "Devices that serve together (the best of 1,2,4,8,16)")
      .delimiter(',');
  add_latency_option(app, o->latency);
  return [o](const GlobalOptions&) {
    return tune::plan_size_view(*o, config_dirs("models"), config_dirs("devices"));
  };
}

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
    return tune::device_mix_view(
        tune::mix_devices(*mix, std::move(load), config_dirs("models"), config_dirs("devices")),
        stdout_columns());
  };
}

Action add_rank_qpu(OptionSet& app) {
  auto asked = std::make_shared<circuit::RankRequest>();
  app.add_option("circuit", asked->path, "OpenQASM 2 or 3 file")->required();
  app.add_option("--shots", asked->shots, "Of which the cost is said")
      ->check(within(1, 100'000'000));
  app.add_option("--sample", asked->samples, "Simulate, and count this many shots")
      ->check(within(1, 10'000'000));
  app.add_option("--seed", asked->seed, "Of --sample").with("--sample");
  app.add_option("--noise", asked->noise, "With --sample: noise of this QPU's errors")
      .with("--sample");
  app.add_option("--as", asked->version, "Print the circuit as OpenQASM 2 or 3 instead")
      ->check(within(2, 3));
  return [asked](const GlobalOptions&) { return circuit::answer(*asked); };
}

}  // namespace halmark::cli
