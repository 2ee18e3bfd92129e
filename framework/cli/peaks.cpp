// halmark peaks: FLOP/s per dtype and ISA path, bandwidth per memory level; writes a device file.
#include "cli/peaks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
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

Json device_json(const Device& d) {
  Json peaks = Json::array(), bandwidths = Json::array();
  for (const Peak& p : d.peaks) {
    peaks.push_back({{"path", p.path},
                     {"dtype", std::string(dtype_name(p.dtype))},
                     {"isa", p.isa},
                     {"threads", p.threads},
                     {"flops_per_s", p.flops_per_s},
                     {"flops_per_s_q90", optional_number(p.flops_per_s_q90)},
                     {"source", p.source}});
  }
  for (const Bandwidth& b : d.bandwidths) {
    bandwidths.push_back({{"level", b.level},
                          {"threads", b.threads},
                          {"bytes_per_s", b.bytes_per_s},
                          {"working_set_bytes", b.working_set_bytes},
                          {"source", b.source}});
  }
  return {
      {"id", d.id},
      {"name", d.name},
      {"fingerprint", d.fingerprint},
      {"ring_plateau_bytes", d.ring_plateau_bytes ? Json(*d.ring_plateau_bytes) : Json(nullptr)},
      {"clock_hz", optional_number(d.clock_hz)},
      {"peaks", peaks},
      {"bandwidths", bandwidths}};
}

std::string device_table(const Device& d, const LocalMachine& machine) {
  TextTable peaks({"path", "isa", "threads", "max", "q90", "of datasheet"},
                  {false, false, true, true, true, true});
  for (const Peak& p : d.peaks) {
    const auto stated =
        machine.datasheet ? machine.datasheet->peak(p.dtype, p.threads) : std::nullopt;
    peaks.add({p.path, p.isa, std::to_string(p.threads), rate_text(p.flops_per_s),
               p.flops_per_s_q90 ? rate_text(*p.flops_per_s_q90) : "-",
               stated ? percent_text(p.flops_per_s / stated->flops_per_s) : "-"});
  }
  TextTable bandwidths({"level", "threads", "bandwidth", "working set", "how"},
                       {false, true, true, true, false});
  for (const Bandwidth& b : d.bandwidths) {
    bandwidths.add({b.level, std::to_string(b.threads), rate_text(b.bytes_per_s, "B/s"),
                    bytes_text(static_cast<double>(b.working_set_bytes)), b.source});
  }
  std::string out = d.name + '\n' + '\n' + peaks.text() + '\n' + bandwidths.text();
  if (d.ring_plateau_bytes) {
    out += fmt::format("\nconstants are cold from a ring of {}\n",
                       bytes_text(static_cast<double>(*d.ring_plateau_bytes)));
  }
  return out;
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
  CommandResult result{.data = device_json(device), .text = device_table(device, machine)};
  result.data["path"] = path.string();
  result.text += "written to " + path.string() + '\n';
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace

Device measure_and_keep_peaks(const GlobalOptions& global, const LocalMachine& machine,
                              bool is_quick, const std::filesystem::path& path) {
  Progress progress(global, "peaks");
  Device device =
      measure_peaks({.is_quick = is_quick,
                     .date_utc = journal::utc_now(),
                     .progress =
                         [&](double share, const std::string& what) {
                           progress.step(static_cast<std::size_t>(share * 100), 100, 0, what, -1);
                         },
                     .should_stop = interrupted});
  device.fingerprint = machine.fingerprint;
  if (!interrupted()) write_whole(path, device_text(device));
  return device;
}

Action add_peaks(OptionSet& app) {
  auto options = std::make_shared<Options>();
  app.add_flag("--long", options->is_long,
               "100 windows of 10 ms per probe instead of the quick form");
  app.add_option("--out,-o", options->out, "Device file to write (default: this machine's)");
  return [options](const GlobalOptions& global) { return execute(global, *options); };
}

}  // namespace halmark::cli
