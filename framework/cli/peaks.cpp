// halmark peaks: FLOP/s per dtype and ISA path, bandwidth per memory level; writes a device file.
// The CPU by probes of our own, any other device by its plugin's kernels.
#include <memory>

#include "cli/console/session.hpp"
#include "host/process/interrupt.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "report/views/device_views.hpp"
#include "tune/search/kernels/device_peaks.hpp"

namespace halmark::cli {
namespace {

struct PeaksOptions {
  bool is_long = false;
  std::string out, backend = "cpu", device = "0";
};

Device measured_on_device(const GlobalOptions& global, const FoundPlugin& plugin,
                          const protocol::DeviceDescription& device, const LocalMachine& machine,
                          const PeaksOptions& options, const std::string& path) {
  if (!device.is_apart()) {
    throw refused("device " + options.device + " of " + options.backend +
                      " computes on this machine's CPU, as far as the host's clock can tell",
                  {}, "halmark peaks without --backend measures what bounds it");
  }
  const HeldInterrupts until_written;
  Progress progress(global, "peaks");
  std::optional<RunPeaks> unjudged;
  tune::KernelMeasuring measuring = measuring_with(global, machine, plugin, unjudged);
  measuring.progress = campaign_progress(progress);
  if (!options.is_long) measuring.rounds = 1;
  return tune::measure_device_peaks({.plugin = *plugin.description,
                                     .device = device,
                                     .fingerprint = machine.rows_fingerprint,
                                     .path = path,
                                     .datasheet = machine.datasheet,
                                     .utc = journal::utc_now(),
                                     .measuring = std::move(measuring),
                                     .limits = worker_limits_of(global),
                                     .is_quick = !options.is_long});
}

CommandResult execute(const GlobalOptions& global, const PeaksOptions& options) {
  LocalMachine machine = local_machine();
  const auto path_of = [&](const std::string& fingerprint) {
    return options.out.empty() ? measured_device_path(fingerprint).string() : options.out;
  };
  std::string path = path_of(machine.fingerprint);
  Device device;
  if (options.backend == "cpu") {
    // Its probes are the host's: only a name that is not the CPU's asks a plugin for those there
    // are.
    if (options.device != "0") {
      const std::vector<FoundPlugin> found = find_plugins(global);
      check_device(plugin_of(found, options.backend), options.device);
    }
    device = measured_peaks(global, machine, !options.is_long, path);
  } else {
    const std::vector<FoundPlugin> found = find_plugins(global);
    const FoundPlugin& plugin = plugin_of(found, options.backend);
    const protocol::DeviceDescription& asked = check_device(plugin, options.device);
    rows_are_of(machine, plugin, options.device);
    path = path_of(machine.rows_fingerprint);
    device = measured_on_device(global, plugin, asked, machine, options, path);
  }
  CommandResult result = shown(report::measured_device_view(device, machine.datasheet));
  result.data["path"] = path;
  if (const std::string busy = report::busy_text(device); !busy.empty()) {
    result.warnings.push_back(
        {"W-PEAK-01", "peaks", busy, "halmark peaks again on an idle machine"});
  }
  result.text +=
      (interrupted() ? "interrupted: nothing was written to " : "written to ") + path + '\n';
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace

Action add_peaks(OptionSet& app) {
  auto options = std::make_shared<PeaksOptions>();
  app.add_flag("--long", options->is_long,
               "100 windows of 10 ms per probe instead of the quick form; of a device three rounds "
               "and more sizes");
  app.add_option("--backend", options->backend,
                 "Backend whose copies, multiply-adds and products are measured");
  app.add_option("--device", options->device, "Device of the backend");
  app.add_option("--out,-o", options->out, "Device file to write (default: this device's)");
  return [options](const GlobalOptions& global) { return execute(global, *options); };
}

}  // namespace halmark::cli
