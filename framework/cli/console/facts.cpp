// Options that several commands share become values here, so that the same words mean the same
// configuration in all of them.
#include "cli/console/facts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "plan/device_file.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::cli {

Device known_device(const std::string& id) {
  return halmark::known_device(id, config_dirs("devices"));
}

std::optional<Device> measured_device(const std::string& fingerprint) {
  const std::filesystem::path path = measured_device_path(fingerprint);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return read_device(path.string());
}

namespace {

std::int64_t imbalance_ppm(const std::string& text) {
  if (text == "balanced") return Workload::balanced_ppm;
  if (text == "uniform") return 0;
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !(factor >= 1) || factor > 1e6) {
    throw refused("--expert-imbalance is '" + printable(text) + "'", {},
                  "balanced, uniform or a factor from 1 on");
  }
  return std::llround(factor * 1e6);
}

}  // namespace

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

Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              bool has_bf16) {
  const auto phase = parse_phase(options.phase);
  if (!phase) {
    throw refused("unknown phase '" + options.phase + "'", {},
                  suggestion(options.phase, {"prefill", "decode", "training"}));
  }
  Workload workload{.phase = *phase, .batch = options.batch};
  if (*phase == Phase::decode) {
    workload.new_tokens = options.new_tokens != 0 ? options.new_tokens : 1;
    workload.context = options.context != 0 ? options.context : 1024;
  } else {
    workload.new_tokens = options.new_tokens != 0 ? options.new_tokens
                          : options.context != 0  ? options.context
                                                  : 512;
    workload.context = options.context != 0 ? options.context : workload.new_tokens;
  }
  workload.routing_skew = options.routing_skew;
  workload.expert_imbalance_ppm = imbalance_ppm(options.expert_imbalance);
  return {
      .model = spec.id,
      .parallel = {.dp = options.dp,
                   .tp = options.tp,
                   .pp = options.pp == 1 && !options.stages.empty()
                             ? static_cast<int>(options.stages.size())
                             : options.pp,
                   .ep = options.ep,
                   .stages = options.stages},
      .precision = overridden(precision_of(options.dtype, tune::precision_facts(spec, has_bf16)),
                              parse_precision_overrides(options.precision)),
      .workload = workload};
}

}  // namespace halmark::cli
