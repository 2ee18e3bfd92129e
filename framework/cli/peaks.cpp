// halmark peaks: FLOP/s per dtype and ISA path, bandwidth per memory level; writes a device file.
#include <memory>

#include "cli/console/interrupt.hpp"
#include "cli/console/session.hpp"
#include "report/views/device_views.hpp"

namespace halmark::cli {
namespace {

struct Options {
  bool is_long = false;
  std::string out;
};

CommandResult execute(const GlobalOptions& global, const Options& options) {
  const LocalMachine machine = local_machine();
  const std::string path =
      options.out.empty() ? measured_device_path(machine.fingerprint).string() : options.out;
  const Device device = measured_peaks(global, machine, !options.is_long, path);
  CommandResult result = shown(report::measured_device_view(device, machine.datasheet));
  result.data["path"] = path;
  result.text += "written to " + path + '\n';
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace

Action add_peaks(OptionSet& app) {
  auto options = std::make_shared<Options>();
  app.add_flag("--long", options->is_long,
               "100 windows of 10 ms per probe instead of the quick form");
  app.add_option("--out,-o", options->out, "Device file to write (default: this machine's)");
  return [options](const GlobalOptions& global) { return execute(global, *options); };
}

}  // namespace halmark::cli
