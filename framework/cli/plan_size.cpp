// halmark plan-size: devices, energy, cost and carbon of a training run or a served load, on paper.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/model/model_options.hpp"
#include "tune/sizing/plan_size.hpp"

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
    return shown(tune::plan_size_view(*o, config_dirs("models"), config_dirs("devices")));
  };
}

}  // namespace halmark::cli
