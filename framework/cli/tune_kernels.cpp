#include "cli/tune_kernels.hpp"

#include "host/process/interrupt.hpp"
#include "tune/devices/kernel_sweep.hpp"

namespace halmark::cli {

CommandResult tune_kernels(const GlobalOptions& global, const KernelSweep& sweep, Keeping keeping) {
  const std::vector<FoundPlugin> found = find_plugins(global);
  if (sweep.file.empty()) {  // typed just now: no sweep for many machines, where a row says so
    for (const ShardPlace& place : sweep.backends) plugin_of(found, place.backend);
  }
  LocalMachine host = local_machine();
  ensure_cpu_peaks(global, host);
  if (interrupted()) return {.exit_code = interrupt_exit_code()};
  tune::NamedDevices devices = tune::NamedDevices::present_or_not(sweep.backends, found, host);
  const auto questions = tune::offered_questions(sweep, devices, found);
  const HeldInterrupts until_reported;
  Progress progress(global, sweep.file.empty() ? "bench" : "tune");
  host.rows_fingerprint = devices.fingerprint();
  tune::KernelMeasuring measuring = tune::measuring_of(sweep, host.limits);
  measuring.worker_limits = worker_limits_of(global, sweep.containment);
  measuring.stop = interrupts();
  measuring.progress = campaign_progress(progress);
  devices.measure_with(measuring);
  tune::KeptRows kept = kept_rows(global, host, keeping, devices.lines());
  measuring.sink = keeping_sink(kept, devices);
  const tune::BackendRows rows = tune::search_backends(questions, sweep, measuring);
  progress.finish();
  tune::ReportingMachine judge = reporting_machine(host);
  devices.judge_in(judge);
  CommandResult result =
      shown(report::backends_view(tune::compare_backends(questions, rows.rows, judge)));
  result.data["devices"] = devices.lines();
  result.data["notes"] = rows.notes;
  for (const auto& lines : {devices.lines(), rows.notes}) {
    for (const std::string& line : lines) result.text += line + '\n';
  }
  result.exit_code = interrupted() ? interrupt_exit_code() : tune::exit_code_of(rows.rows);
  say_what_is_kept(global, kept, result);
  return result;
}

}  // namespace halmark::cli
