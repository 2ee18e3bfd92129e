#include "tune/devices/record_run.hpp"

#include <algorithm>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "model/spec/model_spec.hpp"
#include "tune/plan/deployment_options.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/validate/run_configuration.hpp"

namespace halmark::tune {
namespace {

std::vector<KernelCase> asked_cases(const RecordRequest& request) {
  std::vector<KernelCase> out;
  for (const AskedKernels& one : request.kernels) {
    for (KernelCase& k : kernel_cases({.op = one.op,
                         .params = one.params,
                         .dtypes = one.dtypes,
                         .backend = request.backend,
                         .device = request.device})) {
      if (!contains(out, k)) out.push_back(std::move(k));
    }
  }
  return out;
}

// What a process needs beside its samples: staging and the checks of its output.
constexpr double overhead_s = 0.1;

double sampling_s(double all_s, std::size_t trials) {
  return std::clamp(all_s / as_double(trials) - overhead_s, 0.01, 0.5);
}

}  // namespace

void measure_for_record(const RecordRequest& request, const LocalMachine& machine,
                        KernelMeasuring measuring, KeptRows& kept,
                        const std::vector<std::filesystem::path>& models) {
  const double all_s = request.minutes * 60;
  const std::vector<KernelCase> cases = asked_cases(request);
  if (request.minutes < 2) measuring.rounds = 1;
  const auto trials = cases.size() * as_size(measuring.rounds);
  measuring.seconds = sampling_s(0.6 * all_s, trials);
  measure_kernels(cases, measuring);
  Target target = target_of(machine, request.backend, request.device, {});
  target.in_stack = true;
  for (const std::string& model : request.models) {
    if (measuring.stop.stop_requested()) return;
    const ModelSpec spec = load_model(model, models);
    const Configuration configuration =
        deployment_from({.phase = "decode", .batch = 1, .context = 256}, spec, machine.has_bf16);
    const RunOutcome outcome =
        run_configuration(spec, configuration, target, measuring, std::max(1.0, 0.1 * all_s));
    if (!outcome.validation || measuring.stop.stop_requested()) continue;
    kept.append(outcome.evaluation);
    kept.append(*outcome.validation);
  }
}

}  // namespace halmark::tune
