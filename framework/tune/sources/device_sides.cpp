// Sides with kernels of their own come first: bounds are made for the problems that those have.
#include "tune/sources/device_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/input/file_kind.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "history/record/machine_record.hpp"
#include "history/record/stored_rows.hpp"
#include "journal/place.hpp"
#include "journal/store.hpp"
#include "latency/sides/side_kernels.hpp"
#include "plan/device/device_file.hpp"
#include "plan/device/device_folder.hpp"
#include "tune/sources/stated_device.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

// Rows of a results database as one side of a comparison of devices.

struct StoredSide {
  SideKernels kernels;
  std::optional<Device> device;    // whose peaks count; nothing where nobody knows them
  std::vector<std::string> lines;  // for people
};

std::string runs_text(const history::StoredRows& of) {
  return fmt::format("{} of {}, {} {}", of.device, of.fingerprint, of.runs.size(),
                     of.runs.size() == 1 ? "run" : "runs, the newest with a kernel counts");
}

// Of one run, or of the latest runs of the machine that measured last: of each kernel the newest
// run that has it. Rows are of one device, that with most of them. Peaks are `said`'s, else those
// that the newest run stored. Throws Error (exit 2) for a foreign or damaged database and one
// without rows.
StoredSide stored_side(const std::string& path, std::optional<std::int64_t> run,
                       std::optional<Device> said) {
  const history::StoredRows stored = history::stored_rows(*open_store_read_only(path), path, run);
  StoredSide out{.device = std::move(said), .lines = {runs_text(stored)}};
  int threads = 0;
  if (out.device) {
    out.lines.push_back("peaks of " + out.device->id + ", as the command says");
  } else if (stored.peaks) {
    out.device = parse_device(stored.peaks->device_text, path);
    threads = stored.peaks->threads;
    out.lines.emplace_back("peaks that its runs were judged by");
  } else {
    out.lines.push_back("no peaks are known: " + path + "=DEVICE names a device file");
  }
  out.kernels = measured_kernels(stored.rows, {out.device ? &*out.device : nullptr, threads});
  for (const auto& [reason, rows] : stored.left_out) out.kernels.left_out[reason] += rows;
  return out;
}

// What a server has behind '?' is no device.
bool is_there(const std::string& name) { return is_database_there(name); }

struct Named {
  std::string text;  // as the user wrote it
  std::string what;  // file or device
  std::string of;    // device of a file; "" = not said
};

Named named(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || is_there(text)) return {without_password(text), text, ""};
  return {text, text.substr(0, equals), text.substr(equals + 1)};
}

DeviceSide side_of(const Named& name, TimeBasis basis, SideKernels kernels) {
  return {.name = name.text,
          .basis = basis,
          .lines = {},
          .kernels = std::move(kernels.kernels),
          .left_out = std::move(kernels.left_out)};
}

void take_device(DeviceSide& side, const Device& device) {
  side.device = device.id;
  side.power_w = device.power_w;
  side.usd_per_hour = device.usd_per_hour;
}

DeviceSide table_side(const Named& name, const std::string& layout, const Folders& devices) {
  const ImportedTable table = read_kernel_table(name.what, layout);
  std::optional<Device> device;
  if (!name.of.empty()) device = known_device(name.of, devices);
  if (!device && !table.device.empty()) {
    device = stated_device(table.device, known_devices(devices));
  }
  if (!device) {
    throw refused(
        table.device.empty() ? std::string("the table does not say of which device it is")
                             : "the table states " + printable(table.device) + ", no known device",
        name.what, "say so: " + name.what + "=h100-sxm; halmark devices --known lists ids");
  }
  DeviceSide out = side_of(name, TimeBasis::imported, imported_kernels(table, &*device));
  take_device(out, *device);
  out.lines = {fmt::format("{} rows of {}, times without a spread; peaks of {}", table.rows,
                           std::filesystem::path(name.what).filename().string(), device->id)};
  return out;
}

DeviceSide journal_side(const Named& name, std::optional<std::int64_t> run, const std::string& path,
                        const Folders& devices) {
  std::optional<Device> device;
  if (!name.of.empty()) device = known_device(name.of, devices);
  StoredSide stored = stored_side(path, run, device);
  DeviceSide out = side_of(name, TimeBasis::measured, std::move(stored.kernels));
  if (stored.device) take_device(out, *stored.device);
  out.lines = std::move(stored.lines);
  return out;
}

DeviceSide device_side(const Named& name, const Device& device,
                       const std::vector<Problem>& problems) {
  DeviceSide out = side_of(name, TimeBasis::bound, bound_kernels(problems, device));
  take_device(out, device);
  out.lines = {"bound: the least times at the peaks of " + device.name +
               (device.folder.empty() ? ", no measurement of this device"
                                      : ", without its tables, which --model reads")};
  return out;
}

bool is_device_file(const std::string& what) {
  return what.ends_with(".toml") || is_device_folder(what);
}

class SidesAssembly {
 public:
  SidesAssembly(const SideChoice& choice, const Folders& devices)
      : choice_(choice), devices_(devices) {}

  std::vector<DeviceSide> run() {
    sides_.resize(choice_.names.size());
    for (const auto i : indices(sides_)) read(i, named(choice_.names[i]));
    keep_op();
    const std::vector<Problem> problems = asked_problems();
    for (const auto& [at, bound] : bounds_) {
      sides_[at] = device_side(bound.first, bound.second, problems);
    }
    for (const std::string& price : choice_.prices) set_price(price);
    return std::move(sides_);
  }

 private:
  void read(std::size_t at, const Named& name) {
    std::optional<std::int64_t> run;
    std::string path = name.what;
    if (const auto of = run_of_database(path)) std::tie(path, run) = *of;
    if (!is_there(path) || is_device_file(path)) {
      if (!name.of.empty()) {
        throw refused(
            is_there(path) ? "a device file is of its own device" : "there is no such file",
            name.what, is_there(path) ? "leave out '=" + name.of + "'" : "");
      }
      bounds_.push_back({at, {name, device_or_refused(name.what)}});
    } else if (is_postgresql_url(path) || read_sqlite_header(path)) {
      sides_[at] = journal_side(name, run, path, devices_);
    } else if (is_kind(beginning_of(path), "record")) {
      if (!name.of.empty()) {
        throw refused("a record has peaks of its own", name.what, "leave out '=" + name.of + "'");
      }
      sides_[at] = history::record_side(history::read_record(path), name.text);
    } else {
      sides_[at] = table_side(name, choice_.layout, devices_);
    }
  }

  Device device_or_refused(const std::string& what) const {
    if (is_device_file(what)) return known_device(what, devices_);
    if (auto device = find_device(what, devices_)) return *std::move(device);
    auto names = mapped(known_devices(devices_), &Device::id);
    const std::vector<std::string> close = nearest(what, names);
    throw refused(
        "there is no such file and no such device", what,
        "name a results database, FILE.db:RUN, a record, a table of kernel times, a device "
        "file" +
            (close.empty() ? std::string(" or an id of halmark devices --known")
                           : " or a device: " + suggestion(what, names)));
  }

  void keep_op() {
    if (choice_.op.empty()) return;
    std::set<std::string> ops;
    for (DeviceSide& side : sides_) {
      for (const DeviceKernel& kernel : side.kernels) ops.insert(kernel.problem.op);
      std::erase_if(side.kernels,
                    [this](const DeviceKernel& k) { return k.problem.op != choice_.op; });
    }
    if (ops.empty() && choice_.op == "gemm") return;  // bounds alone: gemms of our own
    if (!ops.contains(choice_.op)) {
      throw refused("no side has kernels of '" + choice_.op + "'", "--op",
                    suggestion(choice_.op, {ops.begin(), ops.end()}));
    }
  }

  std::vector<Problem> asked_problems() const {
    std::set<Problem> out;
    for (const DeviceSide& side : sides_) {
      for (const DeviceKernel& kernel : side.kernels) out.insert(kernel.problem);
    }
    if (!out.empty()) return {out.begin(), out.end()};
    static constexpr std::array dtypes = {Dtype::bf16, Dtype::f8_e4m3fn, Dtype::s8};
    return plain_gemms(dtypes);
  }

  void set_price(const std::string& text) {
    const auto [owner, price] = parse_price(text);
    bool is_known = false;
    for (DeviceSide& side : sides_) {
      if (side.name != owner && side.device != owner) continue;
      side.usd_per_hour = price;
      is_known = true;
    }
    if (is_known) return;
    auto names = mapped(sides_, &DeviceSide::device);
    throw refused("no side is of '" + owner + "'", "--price", suggestion(owner, names));
  }

  const SideChoice& choice_;
  const Folders& devices_;
  std::vector<DeviceSide> sides_;
  std::vector<std::pair<std::size_t, std::pair<Named, Device>>> bounds_;  // by position
};

}  // namespace

std::vector<DeviceSide> device_sides(const SideChoice& choice, const Folders& devices) {
  return SidesAssembly(choice, devices).run();
}

}  // namespace halmark::tune
