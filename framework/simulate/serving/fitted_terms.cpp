#include "simulate/serving/fitted_terms.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::serving {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "serving_terms.json";

Ratios ratios_of(const Json& in) { return {in.at(0).get<double>(), in.at(1).get<double>()}; }

void widen(FittedTerms& terms, const Json& by) {
  for (const auto& [ratios, key] : {std::pair(&terms.ttft, "ttft"), {&terms.tpot, "tpot"}}) {
    const Ratios other = ratios_of(by.at(key));
    *ratios = {std::min(ratios->low, other.low), std::max(ratios->high, other.high)};
  }
}

bool is_of(const Json& set, std::string_view device) {
  const Json& devices = set.at("devices");
  return contains(devices, device);
}

EngineTerms terms_of(const Json& in) {
  return {.device_scale = in.value("device_scale", 1.0),
          .step_ns = in.value("step_ns", 0.0),
          .sequence_ns = in.value("sequence_ns", 0.0),
          .token_ns = in.value("token_ns", 0.0),
          .arrival_ns = in.value("arrival_ns", 0.0)};
}

// The set of the model on the device in the release, else of any release, else that of the model,
// else that of all: what is of less stands before what is of more.
const Json& set_of(const Json& sets, std::string_view model, std::string_view device,
                   std::string_view release) {
  const Json* out = nullptr;
  for (const Json& set : sets) {
    const bool is_of_release =
        !set.contains("release") || (set.at("release") == release && is_of(set, device));
    if (is_of_release && set.at("model") == model) out = &set;
    if (out == &set && is_of(set, device)) break;
  }
  if (out != nullptr) return *out;
  return model.empty() ? sets.at(sets.size()) : set_of(sets, {}, device, release);
}

FittedTerms read_terms(const Json& in, std::string_view model, std::string_view device,
                       std::string_view release) {
  const Json& set = set_of(in.at("sets"), model, device, release);
  const Json& all = set_of(in.at("sets"), {}, device, {});
  FittedTerms out{.engine = in.at("engine"),
                  .release = set.value("release", ""),
                  .asked_release = std::string(release),
                  .model = set.at("model"),
                  .series = {.terms = terms_of(set.at("terms")),
                             .waves = in.at("waves"),
                             .token_budget = set.at("token_budget"),
                             .chunks_prompts = set.at("chunks_prompts")},
                  .ttft = ratios_of(set.at("ttft")),
                  .tpot = ratios_of(set.at("tpot")),
                  .full_ttft = ratios_of(in.at("full_cache").at("ttft")),
                  .full_tpot = ratios_of(in.at("full_cache").at("tpot")),
                  .apart_ttft = ratios_of(in.at("disaggregated").at("ttft")),
                  .apart_tpot = ratios_of(in.at("disaggregated").at("tpot")),
                  .apart_ns = in.at("disaggregated").at("way_ns"),
                  .launch_ns = in.at("launch_ns"),
                  .rows = set.at("rows"),
                  .source = in.at("source"),
                  .is_of_device = is_of(all, device)};
  // A model on another device is as unknown as another model; another device more than that.
  if (!is_of(set, device)) widen(out, all);
  if (!out.is_of_device) widen(out, in.at("other_device"));
  return out;
}

// The first rule that says nothing else of engine, model and device.
std::optional<Dtype> cache_of(const Json& in, const NamedEngine& engine, const ModelSpec& spec,
                              const Device& device) {
  for (const Json& rule : in.at("caches")) {
    const bool is_meant = rule.value("model", spec.names.front()) == spec.names.front() &&
                          rule.value("release", engine.release) == engine.release &&
                          (!rule.contains("devices") || is_of(rule, device.id));
    if (!is_meant) continue;
    const auto dtype = parse_dtype(rule.at("dtype").get<std::string>());
    const bool computes =
        dtype && std::ranges::find(device.peaks, *dtype, &Peak::dtype) != device.peaks.end();
    return computes ? dtype : std::nullopt;
  }
  return std::nullopt;
}

// What `read` makes of the file of the engine's terms.
template <class Read>
auto of_file(std::string_view engine, const Read& read) {
  const std::vector<std::string> known = fitted_engines();
  if (std::ranges::find(known, engine) == known.end()) {
    throw refused("no terms of an engine '" + printable(engine) + "'", "--engine",
                  suggestion(engine, known));
  }
  std::string path;
  for (const fs::path& folder : config_dirs("engines")) {
    path = (folder / engine / file_name).string();
    std::error_code ignored;
    if (fs::exists(path, ignored)) break;
  }
  const Json in = read_json_file(path);
  try {
    return read(in);
  } catch (const Json::exception& e) {
    throw refused("no terms of an engine: " + std::string(e.what()), path);
  }
}

}  // namespace

std::vector<std::string> fitted_engines() {
  std::set<std::string> out;
  for (const fs::path& folder : config_dirs("engines")) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (fs::exists(entry.path() / file_name, ignored)) out.insert(entry.path().filename());
    }
  }
  return {out.begin(), out.end()};
}

FittedTerms fitted_terms(std::string_view engine, std::string_view model, std::string_view device,
                         std::string_view release) {
  return of_file(engine, [&](const Json& in) { return read_terms(in, model, device, release); });
}

std::optional<Dtype> served_cache(const NamedEngine& engine, const ModelSpec& spec,
                                  const Device& device) {
  return of_file(engine.name, [&](const Json& in) { return cache_of(in, engine, spec, device); });
}

ServingEngine engine_of(const FittedTerms& terms) {
  return {.name = terms.engine,
          .terms = terms.series.terms,
          .waves = terms.series.waves,
          .chunks_prompts = terms.series.chunks_prompts,
          .ttft = terms.ttft,
          .tpot = terms.tpot,
          .apart_ttft = terms.apart_ttft,
          .apart_tpot = terms.apart_tpot,
          .apart_ns = terms.apart_ns};
}

FittedTerms fitted_terms(std::string_view engine, const ModelSpec& spec, std::string_view device,
                         std::string_view release) {
  const std::string& shape = spec.names.front();
  FittedTerms out = fitted_terms(engine, shape, device, release);
  if (out.model == shape && spec.id != shape) out.model = "models of its shape";
  return out;
}

FittedTerms of_full_cache(FittedTerms terms) {
  const auto widened = [](const Ratios& a, const Ratios& b) {
    return Ratios{std::min(a.low, b.low), std::max(a.high, b.high)};
  };
  terms.ttft = widened(terms.ttft, terms.full_ttft);
  terms.tpot = widened(terms.tpot, terms.full_tpot);
  terms.is_full = true;
  return terms;
}

FittedTerms of_disaggregated(FittedTerms terms) {
  terms.ttft = terms.apart_ttft;
  terms.tpot = terms.apart_tpot;
  terms.series.terms.arrival_ns += terms.apart_ns;
  terms.is_apart = true;
  return terms;
}

std::string source_text(const FittedTerms& terms) {
  return "terms of " + terms.engine + (terms.release.empty() ? "" : ' ' + terms.release) +
         (terms.model.empty() ? std::string(", all models") : " with " + terms.model) +
         ", fitted on " + terms.rows + " of " + terms.source +
         (terms.asked_release == terms.release
              ? ""
              : ", too few rows of " + printable(terms.asked_release) +
                    " with this model and device for terms of its own") +
         (terms.is_of_device ? "" : ", none of them of this device") +
         "; measured over predicted in 90 % of cases" +
         (terms.is_apart ? ", of servers whose prompts have workers of their own" : "") +
         (terms.is_full ? ", requests waiting for room in the cache" : "") + ": TTFT " +
         number_text(terms.ttft.low, 3) + " to " + number_text(terms.ttft.high, 3) + ", TPOT " +
         number_text(terms.tpot.low, 3) + " to " + number_text(terms.tpot.high, 3);
}

std::int64_t requests_held(const EnginePlan& plan, const RequestShape& shape) {
  const std::int64_t tokens =
      shape.input_tokens + (plan.reserves_output ? shape.output_tokens : shape.output_tokens / 2);
  const std::int64_t each = (tokens + plan.block_tokens - 1) / plan.block_tokens;
  const std::int64_t fit = std::max<std::int64_t>(1, plan.blocks / each);
  return plan.requests_max > 0 ? std::min(plan.requests_max, fit) : fit;
}

}  // namespace halmark::serving
