// halmark peaks: FLOP/s per dtype and ISA path, bandwidth per memory level; writes a device file.
#include "cli/peaks.hpp"

#include <unistd.h>

#include <fstream>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/peak_tables.hpp"
#include "journal/writer_lock.hpp"
#include "measure/probe/peaks.hpp"
#include "plan/device_file.hpp"

namespace halmark::cli {
namespace {

void write_whole(const std::filesystem::path& path, const std::string& text) {
  std::error_code code;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
  const std::string temporary = path.string() + ".new-" + std::to_string(getpid());
  std::ofstream file(temporary);
  file << text;
  file.close();
  if (file) std::filesystem::rename(temporary, path, code);
  if (!file || code)
    throw Error(ExitCode::error, "the device file cannot be written", path.string());
}

struct Options {
  bool is_long = false;
  std::string out;
};

CommandResult execute(const GlobalOptions& global, const Options& options) {
  const LocalMachine machine = local_machine();
  const std::filesystem::path path = options.out.empty() ? measured_device_path(machine.fingerprint)
                                                         : std::filesystem::path(options.out);
  const Device device = measure_and_keep_peaks(global, machine, !options.is_long, path);
  CommandResult result{.data = peaks_json(device), .text = peaks_table(device, machine.datasheet)};
  result.data["path"] = path.string();
  result.text += "written to " + path.string() + '\n';
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

// What a file of the same machine already has of each ceiling stays; the rest is of now.
Device merged_with_file(Device seen, const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return seen;
  Device known = read_device(path.string());
  if (known.fingerprint != seen.fingerprint) return seen;
  observe(known, seen);
  if (!seen.ring_plateau_bytes) seen.ring_plateau_bytes = known.ring_plateau_bytes;
  seen.peaks = std::move(known.peaks);
  seen.bandwidths = std::move(known.bandwidths);
  return seen;
}

}  // namespace

Device measure_and_keep_peaks(const GlobalOptions& global, const LocalMachine& machine,
                              bool is_quick, const std::filesystem::path& path) {
  Progress progress(global, "peaks");
  const std::string utc = journal::utc_now();
  Device seen =
      measure_peaks({.is_quick = is_quick,
                     .date_utc = utc,
                     .progress =
                         [&](double share, const std::string& what) {
                           progress.step(static_cast<std::size_t>(share * 100), 100, 0, what, -1);
                         },
                     .should_stop = interrupted});
  seen.fingerprint = machine.fingerprint;
  Device device = merged_with_file(std::move(seen), path);
  if (!interrupted()) write_whole(path, device_text(device));
  return device;
}

void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks) {
  if (peaks == nullptr || !peaks->has_seen()) return;
  const std::filesystem::path path = measured_device_path(machine.fingerprint);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  Device device = read_device(path.string());
  observe(device, peaks->seen());
  write_whole(path, device_text(device));
}

Action add_peaks(OptionSet& app) {
  auto options = std::make_shared<Options>();
  app.add_flag("--long", options->is_long,
               "100 windows of 10 ms per probe instead of the quick form");
  app.add_option("--out,-o", options->out, "Device file to write (default: this machine's)");
  return [options](const GlobalOptions& global) { return execute(global, *options); };
}

}  // namespace halmark::cli
