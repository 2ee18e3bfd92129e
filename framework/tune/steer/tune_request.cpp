#include "tune/steer/tune_request.hpp"

#include <utility>

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "plan/asked_sweep.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {

namespace {

// What names other devices, or measures none, has no use for the nodes of a job.
void refuse_beside_nodes(const TuneRequest& request, const Sweep& sweep) {
  if (!request.nodes.are_named()) return;
  const char* what = !request.fleet.empty()             ? "--fleet"
                     : !sweep.shards_on.empty()         ? "shards_on"
                     : sweep.sampler == certify_sampler ? "the sampler certify"
                     : latency_choice(sweep, request.latency).sources.empty() ? nullptr
                                                                              : "--latency";
  if (what == nullptr) return;
  throw refused(std::string("--mpi-hosts with ") + what, sweep.file,
                "it measures the collectives of one device on each node; leave out one of them");
}

// Words about measuring a front say nothing to a sweep that measures none.
void refuse_of_measured(const TuneRequest& request, const std::string& where) {
  const std::pair<const char*, bool> stated[] = {
      {"--validate", !request.validate.empty()}, {"--rerun", request.starts_new_run},
      {"--no-winners", request.takes_defaults},  {"--gap", request.gap.has_value()},
      {"--safety", request.safety.has_value()},  {"--brief", request.is_brief}};
  for (const auto& [option, is_stated] : stated) {
    if (is_stated)
      throw refused(std::string(option) + " is of sweeps of a model that are measured", where,
                    "leave it out");
  }
}

}  // namespace

CertifySettings certify_settings(const TuneRequest& request) {
  CertifySettings out = request.certify;
  out.eps = request.gap.value_or(out.eps);
  out.safety = request.safety.value_or(out.safety);
  return out;
}

Sweep changed_sweep(const TuneRequest& request, Sweep sweep) {
  if (!request.sampler.empty()) {
    sweep.sampler = request.sampler;
    sweep.sampler_where = "--sampler";
  }
  if (!request.model.empty()) {
    sweep.model = request.model;
    sweep.name = asked_name({.model = request.model, .device = "here", .devices = 1});
  }
  take_fabric(sweep, request.latency.fabric);
  if (!request.stages.empty()) sweep.stages = {parse_stages(request.stages, "--stages")};
  if (request.seed) sweep.seed = *request.seed;
  if (request.trials) sweep.trials = *request.trials;
  if (!request.shards_on.empty()) put_shards_on(request.shards_on, "--shards-on", sweep);
  steer(sweep, request.proposals);
  check_sampler(sweep);
  refuse_beside_nodes(request, sweep);
  if (!latency_choice(sweep, request.latency).sources.empty())
    refuse_of_measured(request, sweep.file);
  if (!request.fleet_class.empty() && request.fleet.empty()) {
    throw refused("--fleet-class is of a fleet", {}, "add --fleet URL");
  }
  if (!request.night.empty() && !is_date(request.night)) {
    throw refused("'" + request.night + "' is no date", "--night", "as 2026-11-22");
  }
  if (!request.night.empty() && !sweep.nightly) {
    throw refused("--night is of sweeps with a [nightly] table", sweep.file,
                  "other sweeps are not repeated every night: --rerun begins a new run");
  }
  const char* proving = !request.certify.proof.empty() ? "--proof"
                        : request.gap                  ? "--gap"
                        : request.safety               ? "--safety"
                                                       : nullptr;
  if (proving != nullptr && sweep.sampler != certify_sampler) {
    throw refused(std::string(proving) + " is of the sampler certify", {}, "add --sampler certify");
  }
  return sweep;
}

KernelSweep changed_sweep(const TuneRequest& request, KernelSweep sweep) {
  refuse_of_measured(request, sweep.file);
  if (request.nodes.are_named()) {
    throw refused("--mpi-hosts is of sweeps of a model", sweep.file,
                  "halmark bench --op all_reduce --mpi-hosts measures one collective");
  }
  if (!request.fleet.empty()) {
    throw refused("backends are compared on the machine that they are on, not by a fleet",
                  sweep.file, "leave out --fleet; --db URL keeps the rows in a shared database");
  }
  if (!request.sampler.empty()) sweep.sampler = request.sampler;
  if (request.seed) sweep.seed = *request.seed;
  if (request.trials) sweep.trials = *request.trials;
  return sweep;
}

}  // namespace halmark::tune
