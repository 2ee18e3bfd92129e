#include "tune/sources/stored_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "journal/store.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::tune {
namespace {

// What a history looks at, too: kernels that nobody measured for longer say little.
constexpr std::size_t runs_looked_at = 60;

using Rows = std::vector<Measurement>;

std::string device_name(const Measurement& row) {
  return row.kernel_case.backend + ':' + row.kernel_case.device;
}

// Rows of all other devices are dropped and counted.
std::string keep_one_device(Rows& rows, std::map<std::string, std::size_t>& left_out) {
  std::map<std::string, std::size_t> counts;
  for (const Measurement& row : rows) ++counts[device_name(row)];
  const std::string kept =
      std::ranges::max_element(counts, {}, &std::pair<const std::string, std::size_t>::second)
          ->first;
  for (const auto& [name, count] : counts) {
    if (name != kept) left_out["of " + name + ", not " + kept] += count;
  }
  std::erase_if(rows, [&](const Measurement& row) { return device_name(row) != kept; });
  return kept;
}

class Reader {
 public:
  Reader(const std::string& path, std::optional<std::int64_t> run)
      : path_(path), store_(open_store_read_only(path)) {
    runs_ = run ? std::vector{*run} : store_->latest_runs(runs_looked_at);
  }

  Rows rows() {
    Rows out;
    std::set<KernelCase> known;
    for (const std::int64_t run : runs_ | std::views::reverse) {
      const std::string fingerprint = store_->run_info(run).fingerprint;
      Rows of_run = store_->run_measurements(run);
      if (of_run.empty()) continue;
      if (fingerprint_.empty()) fingerprint_ = fingerprint;
      if (fingerprint != fingerprint_) {
        left_out_["of another machine, " + fingerprint] += of_run.size();
        continue;
      }
      take_peaks(run);
      ++used_;
      std::set<KernelCase> of_this;
      for (Measurement& row : of_run) {
        if (known.contains(row.kernel_case)) {
          ++left_out_["of an earlier run than the newest of its kernel"];
          continue;
        }
        of_this.insert(row.kernel_case);
        out.push_back(std::move(row));
      }
      known.merge(of_this);
    }
    store_->require_sound();
    if (out.empty()) {
      throw refused("there are no rows of kernels", without_password(path_),
                    "halmark bench or tune measure some");
    }
    return out;
  }

  std::map<std::string, std::size_t>& left_out() { return left_out_; }
  const std::optional<UsedPeaks>& peaks() const { return peaks_; }
  std::string line(const std::string& device) const {
    return fmt::format("{} of {}, {} {}", device, fingerprint_, used_,
                       used_ == 1 ? "run" : "runs, the newest with a kernel counts");
  }

 private:
  void take_peaks(std::int64_t run) {
    if (peaks_) return;
    const auto used = store_->rows<UsedPeaks>(run);
    if (!used.empty()) peaks_ = used.back();
  }

  std::string path_, fingerprint_;
  std::unique_ptr<Store> store_;
  std::vector<std::int64_t> runs_;
  std::size_t used_ = 0;
  std::optional<UsedPeaks> peaks_;
  std::map<std::string, std::size_t> left_out_;
};

}  // namespace

StoredSide stored_side(const std::string& path, std::optional<std::int64_t> run,
                       std::optional<Device> said) {
  Reader reader(path, run);
  Rows rows = reader.rows();
  const std::string kept = keep_one_device(rows, reader.left_out());
  StoredSide out{.device = std::move(said), .lines = {reader.line(kept)}};
  int threads = 0;
  if (out.device) {
    out.lines.push_back("peaks of " + out.device->id + ", as the command says");
  } else if (reader.peaks()) {
    out.device = parse_device(reader.peaks()->device_text, path);
    threads = reader.peaks()->threads;
    out.lines.emplace_back("peaks that its runs were judged by");
  } else {
    out.lines.push_back("no peaks are known: " + path + "=DEVICE names a device file");
  }
  out.kernels = measured_kernels(rows, {out.device ? &*out.device : nullptr, threads});
  out.kernels.left_out.merge(reader.left_out());
  return out;
}

}  // namespace halmark::tune
