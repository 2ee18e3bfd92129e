// Names of closed sets, and the key of a configuration: the identity under which databases, plans
// and studies know it. What has its default adds nothing, so that old keys stay.
#include "core/chosen/configuration.hpp"

#include "core/text/enum_names.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr auto phases = enum_names<Phase>("prefill", "decode", "training");
constexpr auto front_classes = enum_names<FrontClass>("certain", "possible", "out");
constexpr auto serving_modes = enum_names<ServingMode>("aggregated", "disaggregated");

}  // namespace

std::string_view phase_name(Phase phase) { return phases.of(phase); }

std::optional<Phase> parse_phase(std::string_view text) { return phases.parse(text); }

std::string_view front_class_name(FrontClass value) { return front_classes.of(value); }

std::optional<FrontClass> parse_front_class(std::string_view text) {
  return front_classes.parse(text);
}

std::string_view serving_mode_name(ServingMode mode) { return serving_modes.of(mode); }

std::optional<ServingMode> parse_serving_mode(std::string_view text) {
  return serving_modes.parse(text);
}

namespace {

std::string stages_text(const std::vector<int>& stages) {
  return stages.empty() ? "" : " stages" + join(stages, "+");
}

}  // namespace

std::string Parallel::text() const {
  return "dp" + std::to_string(dp) + " tp" + std::to_string(tp) + " pp" + std::to_string(pp) +
         " ep" + std::to_string(ep) + (cp != 1 ? " cp" + std::to_string(cp) : "") +
         stages_text(stages);
}

std::string LayerGroup::text() const {
  return std::to_string(layers) + ":dp" + std::to_string(dp) + ".tp" + std::to_string(tp) + ".ep" +
         std::to_string(ep) + (cp != 1 ? ".cp" + std::to_string(cp) : "");
}

int Configuration::devices() const {
  if (!served || served->mode == ServingMode::aggregated) return parallel.devices();
  return served->prefill_workers * served->prefill.devices() +
         served->decode_workers * parallel.devices();
}

namespace {

std::string skew_text(const Workload& workload) {
  const bool is_even = workload.routing_skew == Workload::even_routing;
  return is_even ? "" : " s" + std::to_string(workload.routing_skew);
}

std::string step_text(const Workload& w) {
  return std::string(phase_name(w.phase)) + " b" + std::to_string(w.batch) + " n" +
         std::to_string(w.new_tokens) + " c" + std::to_string(w.context) + skew_text(w) +
         (w.micro_batch != 0 ? " m" + std::to_string(w.micro_batch) : "") +
         (w.expert_imbalance_ppm != Workload::balanced_ppm
              ? " i" + std::to_string(w.expert_imbalance_ppm)
              : "");
}

std::string load_text(const ServedLoad& load) {
  return 'i' + std::to_string(load.request.input_tokens) + " o" +
         std::to_string(load.request.output_tokens) + " x" + std::to_string(load.concurrency) +
         " t" + std::to_string(load.token_budget);
}

std::string workers_text(const ServedLoad& load, const Parallel& decode) {
  if (load.mode == ServingMode::aggregated) return decode.text();
  return "prefill " + std::to_string(load.prefill_workers) + "x " + load.prefill.text() +
         " decode " + std::to_string(load.decode_workers) + "x " + decode.text();
}

std::string groups_text(const std::vector<LayerGroup>& groups) {
  std::string out = groups.empty() ? "" : " groups";
  for (const LayerGroup& group : groups) out += ' ' + group.text();
  return out;
}

}  // namespace

namespace {

std::string places_text(const std::vector<ShardPlace>& places) {
  std::string out = places.empty() ? "" : " on";
  for (const ShardPlace& place : places) out += ' ' + place.text();
  return out;
}

}  // namespace

std::string Configuration::key() const {
  const std::string what = served ? load_text(*served) + skew_text(workload) : step_text(workload);
  const std::string where = served ? workers_text(*served, parallel) : parallel.text();
  return model + ' ' + what + ' ' + precision.name + ' ' + where + groups_text(groups) +
         places_text(places);
}

}  // namespace halmark
