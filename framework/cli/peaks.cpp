// halmark peaks: FLOP/s per dtype and ISA path, bandwidth per memory level; writes a device file.
// The CPU by probes of our own, any other device by its plugin's kernels.
#include <memory>

#include "cli/console/session.hpp"
#include "report/views/device_views.hpp"

namespace halmark::cli {
namespace {

struct PeaksOptions {
  bool is_long = false;
  std::string out, backend = "cpu", device = "0";
};

CommandResult execute(const GlobalOptions& global, const PeaksOptions& options) {
  const bool is_cpu = options.backend == "cpu";
  // Probes of the CPU are the host's: only a name that is not the CPU's asks a plugin for those
  // there are.
  std::optional<PluginDevice> on;
  if (!is_cpu || options.device != "0") {
    on.emplace(plugin_device(global, options.backend, options.device));
  }
  const LocalMachine machine = is_cpu ? local_machine() : on->machine;
  const std::string path =
      options.out.empty() ? measured_device_path(machine.rows_fingerprint).string() : options.out;
  const Device device = is_cpu
                            ? measured_peaks(global, machine, !options.is_long, path)
                            : measured_peaks(global, *on, options.device, !options.is_long, path);
  CommandResult result = report::measured_device_view(device, machine.datasheet);
  result.data["path"] = path;
  if (const std::string busy = report::busy_text(device); !busy.empty()) {
    result.warnings.push_back(
        {"W-PEAK-01", "peaks", busy, "halmark peaks again on an idle machine"});
  }
  result.text +=
      (interrupted() ? "interrupted: nothing was written to " : "written to ") + path + '\n';
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
