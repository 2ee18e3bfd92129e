#include "history/record/machine_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "history/devices/shape_class.hpp"
#include "history/record/record_figures.hpp"
#include "journal/place.hpp"
#include "latency/sides/side_kernels.hpp"
#include "plan/device/device_file.hpp"
#include "roofline/bound.hpp"

namespace halmark::history {
namespace {

// What the file holds: samples of a round, then kernels of a class.
struct Limits {
  std::size_t samples, kernels;
};
constexpr std::size_t all = 1'000'000;
constexpr std::array limits_tried = {
    Limits{64, all}, Limits{32, all}, Limits{16, all}, Limits{16, 64}, Limits{16, 32},
    Limits{16, 16},  Limits{16, 8},   Limits{12, 4},   Limits{8, 2},   Limits{6, 1}};

// Of the samples that are kept: those of the row passed the gate.
constexpr const char* too_fast = "faster than the peaks of the device allow";
bool is_above_peaks(const RecordKernel& k) {
  return k.bound_ns() > roofline::quarantine_ratio * k.ns;
}

// The class of the hardware, without the host behind '@'.
std::string without_host(const std::string& fingerprint) {
  return fingerprint.substr(0, fingerprint.find('@'));
}

// Ceilings without a measurement stay where a kernel is bounded by them: of others nothing here
// could say whether they are true.
Device without_owner(Device device, const std::vector<RecordKernel>& kernels) {
  std::set<Dtype> used;
  for (const RecordKernel& k : kernels) used.insert(compute_dtype_of(k.kernel_case.problem));
  std::erase_if(device.peaks,
                [&](const Peak& p) { return p.occasions.empty() && !used.contains(p.dtype); });
  for (Peak& peak : device.peaks) peak.flops_per_s_q90.reset();
  device.fingerprint = without_host(device.fingerprint);
  device.id = without_host(device.id);
  device.notes.clear();
  return device;
}

class Maker {
 public:
  Maker(const StoredRows& stored, Device device, int threads)
      : device_(std::move(device)), threads_(threads) {
    for (const auto& [reason, rows] : stored.left_out) {
      left_out_[reason.starts_with("of another machine") ? "of another machine" : reason] +=
          static_cast<std::int64_t>(rows);
    }
    for (const Measurement& row : stored.rows) add(row);
    for (const auto& [kernel_case, rows] : cases_) judge(rows);
  }

  MachineRecord made(const Limits& limits) const {
    MachineRecord out{.threads = threads_, .left_out = left_out_};
    std::map<std::tuple<std::string, std::string, int, std::string>, std::vector<const Judged*>>
        classes;
    for (const auto& [problem, judged] : fastest_) {
      const ShapeClass shapes = shape_class_of(problem);
      classes[{problem.op, judged.kernel.dtype, shapes.rank, shapes.name}].push_back(&judged);
    }
    std::int64_t beyond = 0;
    for (auto& [key, kernels] : classes) {
      std::ranges::sort(kernels, {}, [](const Judged* j) { return j->kernel.bytes; });
      const std::size_t kept = std::min(kernels.size(), limits.kernels);
      const std::size_t before = out.kernels.size();
      for (std::size_t i = 0; i < kept; ++i) {
        RecordKernel k =
            record_kernel(*kernels[i * kernels.size() / kept], std::get<3>(key), limits.samples);
        if (is_above_peaks(k)) {
          ++out.left_out[too_fast];
        } else {
          out.kernels.push_back(std::move(k));
        }
      }
      beyond += static_cast<std::int64_t>(kernels.size() - kept);
      if (out.kernels.size() == before) continue;
      out.classes.push_back(record_sum(std::span(out.kernels).subspan(before)));
    }
    if (out.kernels.empty()) return out;
    out.all = record_sum(out.kernels);
    out.all.op = out.all.dtype = out.all.shapes = "";
    if (beyond > 0) out.left_out["kernels of classes with more than the file holds"] = beyond;
    out.device = without_owner(device_, out.kernels);
    return out;
  }

  std::vector<RecordPlugin> plugins() const { return {plugins_.begin(), plugins_.end()}; }

 private:
  struct Judged {
    DeviceKernel kernel;
    const std::vector<Measurement>* rows = nullptr;
  };

  void add(const Measurement& row) {
    if (row.kernel_case.is_collective()) {
      ++left_out_["of several ranks"];
    } else if (has_latency(row.status) && row.samples.empty()) {
      ++left_out_["their samples are retired"];
    } else {
      plugins_.insert({row.plugin_name, row.plugin_version, row.plugin_build, row.plugin_hash});
      cases_[row.kernel_case].push_back(row);
    }
  }

  void judge(const std::vector<Measurement>& rows) {
    SideKernels side = measured_kernels(rows, {&device_, threads_});
    for (const auto& [reason, count] : side.left_out) {
      left_out_[reason] += static_cast<std::int64_t>(count);
    }
    for (DeviceKernel& kernel : side.kernels) {
      const auto known = fastest_.find(kernel.problem);
      if (known == fastest_.end()) {
        fastest_.emplace(kernel.problem, Judged{kernel, &rows});
      } else if (kernel.ns < known->second.kernel.ns) {
        known->second = {kernel, &rows};
      }
    }
  }

  static RecordKernel record_kernel(const Judged& judged, const std::string& shapes,
                                    std::size_t samples) {
    const DeviceKernel& of = judged.kernel;
    RecordKernel out{.kernel_case = judged.rows->front().kernel_case,
                     .dtype = of.dtype,
                     .shapes = shapes,
                     .implementation = judged.rows->front().implementation,
                     .matmul_flops = of.matmul_flops,
                     .bytes = of.bytes,
                     .compute_ns = of.least.compute_ns,
                     .memory_ns = of.least.memory_ns,
                     .peak_ns = of.peak_ns};
    out.kernel_case.problem = of.problem;
    for (const Measurement& row : *judged.rows) {
      if (has_latency(row.status)) out.rounds.push_back(record_round(row, samples));
    }
    fold_rounds(out);
    return out;
  }

  Device device_;
  int threads_;
  std::map<KernelCase, std::vector<Measurement>> cases_;
  std::map<Problem, Judged> fastest_;
  std::set<RecordPlugin> plugins_;
  std::map<std::string, std::int64_t> left_out_;
};

// The newest run of each configuration; a model that was named by the path of a file says whose.
std::vector<RecordStep> steps_of(const Store& store, const std::vector<std::int64_t>& runs,
                                 std::map<std::string, std::int64_t>& left_out) {
  std::vector<RecordStep> out;
  std::set<std::string> known;
  for (const std::int64_t run : runs) {
    std::map<std::string, Configuration> configurations;
    for (const Evaluation& e : store.rows<Evaluation>(run)) {
      configurations.insert_or_assign(e.configuration.key(), e.configuration);
    }
    for (const Validation& v : store.rows<Validation>(run)) {
      const auto of = configurations.find(v.deployment_key);
      if (!v.has_time() || v.step_ns.empty() || of == configurations.end()) continue;
      if (of->second.model.find('/') != std::string::npos) {
        ++left_out["steps of a model that is named by its path"];
      } else if (known.insert(v.deployment_key).second) {
        out.push_back(record_step(of->second, v.step_ns));
      }
    }
  }
  std::ranges::sort(out, {}, [](const RecordStep& s) { return s.configuration.key(); });
  return out;
}

}  // namespace

MachineRecord stored_record(const std::string& named, std::optional<std::int64_t> run) {
  std::string database = named;
  if (const auto of = run ? std::nullopt : run_of_database(named)) std::tie(database, run) = *of;
  const auto store = open_store_read_only(database);
  const StoredRows stored = stored_rows(*store, database, run);
  if (!stored.peaks) {
    throw refused("its runs know no peaks, and a record is of what was reached of them",
                  without_password(database),
                  "halmark peaks, then halmark bench, tune or run again");
  }
  const RunInfo info = store->run_info(stored.runs.front());
  const Maker maker(stored, parse_device(stored.peaks->device_text, database),
                    stored.peaks->threads);
  std::map<std::string, std::int64_t> of_steps;
  const std::vector<RecordStep> steps = steps_of(*store, stored.runs, of_steps);
  for (const Limits& limits : limits_tried) {
    MachineRecord out = maker.made(limits);
    out.measured_on = info.started_utc.substr(0, 10);
    out.tool_version = info.tool_version;
    out.tool_build = info.tool_build;
    out.plugins = maker.plugins();
    out.steps = steps;
    out.left_out.insert(of_steps.begin(), of_steps.end());
    if (out.kernels.empty()) {
      std::string why;
      for (const auto& [reason, rows] : out.left_out) {
        why += fmt::format("; {} rows: {}", rows, reason);
      }
      throw refused("no kernel of it can be recorded" + why, without_password(database),
                    "halmark bench measures some");
    }
    if (record_text(out).size() <= record_bytes_max) return out;
  }
  throw refused(fmt::format("one kernel of each class takes more than {} bytes", record_bytes_max),
                without_password(database), "name one run: FILE.db:RUN");
}

}  // namespace halmark::history
