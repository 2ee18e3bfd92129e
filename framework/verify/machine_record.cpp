#include "verify/machine_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/input/file_kind.hpp"
#include "core/json/json.hpp"
#include "core/json/machine_record_json.hpp"
#include "core/latency.hpp"
#include "core/lists.hpp"
#include "core/measured/machine_record.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "kernels/contract.hpp"
#include "verify/front_proof/front_proof_bounds.hpp"

namespace halmark {
namespace {

// The same sums and order statistics, perhaps by another compiler and in another order.
constexpr double record_tolerance = 1e-11;
// A time may fall below its bound by this much: probes of peaks scatter.
constexpr double peak_scatter = 1.02;

bool agrees(double a, double b) {
  return std::abs(a - b) <= record_tolerance * std::max(std::abs(a), std::abs(b));
}

class RecordFindings {
 public:
  explicit RecordFindings(std::vector<RecordFinding>& out) : out_(out) {}
  void add(const std::string& where, std::string text) { out_.push_back({where, std::move(text)}); }
  void compare(const std::string& where, double stored, double computed, const char* from) {
    if (!agrees(stored, computed)) {
      add(where, fmt::format("is {}; {} give {}", stored, from, computed));
    }
  }

 private:
  std::vector<RecordFinding>& out_;
};

class RecordChecker {
 public:
  RecordChecker(const MachineRecord& record, RecordCheck& out)
      : record_(record), out_(out), found_(out.findings) {}

  void check() {
    check_device();
    for (const auto i : indices(record_.kernels)) {
      check_kernel(record_.kernels[i], fmt::format("kernels[{}]", i));
    }
    check_sums();
    for (const auto i : indices(record_.steps)) {
      check_step(record_.steps[i], fmt::format("steps[{}]", i));
    }
  }

 private:
  void check_figures(const SampleFigures& f, const std::vector<double>& ns,
                     const std::string& where) {
    constexpr const char* from = "its samples";
    if (ns.empty() || std::ranges::any_of(ns, [](double t) { return t <= 0; })) {
      return found_.add(where, "a figure without samples above 0 behind it");
    }
    out_.samples += ns.size();
    found_.compare(where + ".median_ns", f.median_ns, median(ns), from);
    found_.compare(where + ".mean_ns", f.mean_ns, mean(ns), from);
    found_.compare(where + ".min_ns", f.min_ns, std::ranges::min(ns), from);
    found_.compare(where + ".relative_iqr", f.relative_iqr, relative_iqr(ns), from);
    const Interval interval = median_interval(ns).interval;
    found_.compare(where + ".interval_ns low", f.interval_ns.low, interval.low, from);
    found_.compare(where + ".interval_ns high", f.interval_ns.high, interval.high, from);
  }

  // Ceilings that were measured are the best of their occasions, or were raised to that of one
  // thread.
  template <class Ceiling>
  void check_ceilings(const std::vector<Ceiling>& ceilings, double Ceiling::*rate,
                      std::optional<double> Ceiling::*high, const char* list) {
    for (const auto i : indices(ceilings)) {
      const Ceiling& c = ceilings[i];
      const std::string where = fmt::format("device.{}[{}]", list, i);
      if (!(c.*rate > 0)) found_.add(where, "no rate above 0");
      if (c.*high && *(c.*high) < c.*rate) found_.add(where, "its upper end is below the figure");
      if (c.occasions.empty()) continue;
      double best = best_rate(c.occasions).per_s;
      for (const Ceiling& other : ceilings) {
        Ceiling one = c;
        one.threads = 1;
        if (is_same_ceiling(other, one) && c.threads != 1) best = std::max(best, other.*rate);
      }
      found_.compare(where, c.*rate, best, "its occasions");
      check_occasions(c.occasions, where);
    }
  }

  void check_occasions(const std::vector<Occasion>& occasions, const std::string& where) {
    for (const auto i : indices(occasions)) {
      const Occasion& o = occasions[i];
      const bool is_ordered = !o.highest.empty() &&
                              std::ranges::is_sorted(o.highest, std::greater<>()) &&
                              o.probes >= std::ssize(o.highest) && o.median <= o.highest.front();
      if (!is_ordered) {
        found_.add(fmt::format("{}.occasions[{}]", where, i),
                   "its probes are not those that its median and its highest are of");
      }
    }
  }

  void check_device() {
    const Device& d = record_.device;
    check_ceilings(d.peaks, &Peak::flops_per_s, &Peak::flops_per_s_high, "peaks");
    check_ceilings(d.bandwidths, &Bandwidth::bytes_per_s, &Bandwidth::bytes_per_s_high,
                   "bandwidths");
    std::set<Dtype> used;
    for (const RecordKernel& k : record_.kernels) {
      if (const auto work = work_of(k)) used.insert(work->compute_dtype);
    }
    for (const auto i : indices(d.peaks)) {
      if (d.peaks[i].occasions.empty() && !used.contains(d.peaks[i].dtype)) {
        found_.add(fmt::format("device.peaks[{}]", i), "it was not measured, and no kernel met it");
      }
    }
  }

  static std::optional<Work> work_of(const RecordKernel& k) {
    try {
      const Problem problem = complete_problem(k.kernel_case.problem);
      return find_contract(problem.op)->work(problem.params);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void check_kernel(const RecordKernel& k, const std::string& where) {
    std::vector<Measurement> rows;
    std::vector<double> joules;
    for (const auto i : indices(k.rounds)) {
      const RecordRound& round = k.rounds[i];
      const std::string of_round = fmt::format("{}.rounds[{}].figures", where, i);
      check_figures(round.figures, round.samples_ns, of_round);
      if (round.taken < std::ssize(round.samples_ns)) {
        found_.add(of_round, "more samples are kept than were taken");
      }
      Measurement row{.round = round.round, .status = round.status};
      row.duration_ns_median = round.figures.median_ns;
      row.duration_ns_interval = round.figures.interval_ns;
      rows.push_back(std::move(row));
      if (round.energy_j) joules.push_back(*round.energy_j);
    }
    out_.rounds += rows.size();
    const auto folded = fold_rounds(rows, 0);
    if (!folded) return found_.add(where, "no round has a time");
    constexpr const char* from = "its rounds";
    found_.compare(where + ".ns", k.ns, folded->ns, from);
    found_.compare(where + ".interval_ns low", k.interval_ns.low, folded->low_ns, from);
    found_.compare(where + ".interval_ns high", k.interval_ns.high, folded->high_ns, from);
    const double power = joules.empty() ? 0 : median(joules) / folded->ns * ns_per_s;
    found_.compare(where + ".power_w", k.power_w.value_or(0), power, from);
    check_work(k, where);
  }

  void check_work(const RecordKernel& k, const std::string& where) {
    const auto work = work_of(k);
    if (!work) return found_.add(where, "no contract has this problem");
    found_.compare(where + ".matmul_flops", k.matmul_flops, work->matmul_flops, "its contract");
    found_.compare(where + ".bytes", k.bytes, work->bytes(), "its contract");
    double compute = 0, memory = 0;
    for (const front_proof::ExpectedTerm& term :
         front_proof::expected_terms(record_.device, record_.threads, k.kernel_case, *work)) {
      const double ns = term.amount / term.per_s * ns_per_s;
      (term.counts_operations ? compute : memory) =
          std::max(term.counts_operations ? compute : memory, ns);
    }
    constexpr const char* from = "the record's peaks";
    found_.compare(where + ".compute_ns", k.compute_ns, compute, from);
    found_.compare(where + ".memory_ns", k.memory_ns, memory, from);
    if (const auto peak = record_.device.peak(work->compute_dtype, record_.threads)) {
      const double ns = work->matmul_flops / peak->flops_per_s * ns_per_s;
      found_.compare(where + ".peak_ns", k.peak_ns, ns, from);
    }
    if (const double least = std::max(compute, memory); least > peak_scatter * k.ns) {
      found_.add(where + ".ns",
                 fmt::format("{} ns, above the peaks: at least {} ns are needed", k.ns, least));
    }
  }

  static void add(const RecordKernel& k, RecordSum& to, bool& is_metered) {
    ++to.kernels;
    to.ns += k.ns;
    to.matmul_flops += k.matmul_flops;
    to.bytes += k.bytes;
    if (const double bound = std::max(k.compute_ns, k.memory_ns); bound > 0) {
      to.bounded_ns += k.ns;
      to.bound_ns += bound;
    }
    is_metered = is_metered && k.power_w;
    to.joules = to.joules.value_or(0) + k.power_w.value_or(0) * k.ns / ns_per_s;
  }

  void compare_sum(const RecordSum& stored, RecordSum computed, bool is_metered,
                   const std::string& where) {
    constexpr const char* from = "its kernels";
    if (!is_metered) computed.joules = 0;
    found_.compare(where + ".kernels", as_double(stored.kernels), as_double(computed.kernels),
                   from);
    found_.compare(where + ".ns", stored.ns, computed.ns, from);
    found_.compare(where + ".bounded_ns", stored.bounded_ns, computed.bounded_ns, from);
    found_.compare(where + ".bound_ns", stored.bound_ns, computed.bound_ns, from);
    found_.compare(where + ".matmul_flops", stored.matmul_flops, computed.matmul_flops, from);
    found_.compare(where + ".bytes", stored.bytes, computed.bytes, from);
    found_.compare(where + ".joules", stored.joules.value_or(0), computed.joules.value_or(0), from);
  }

  void check_sums() {
    struct Sum {
      RecordSum sum;
      bool is_metered = true;
    };
    std::map<std::string, Sum> classes;
    Sum all;
    for (const RecordKernel& k : record_.kernels) {
      Sum& of = classes[k.kernel_case.problem.op + ' ' + k.dtype + ' ' + k.shapes];
      add(k, of.sum, of.is_metered);
      add(k, all.sum, all.is_metered);
    }
    compare_sum(record_.all, all.sum, all.is_metered, "all");
    for (std::size_t i = 0; i < record_.classes.size(); ++i) {
      const std::string where = fmt::format("classes[{}]", i);
      const auto of = classes.find(record_.classes[i].name());
      if (of == classes.end()) {
        found_.add(where, "no kernel is of this class, or it is there twice");
        continue;
      }
      compare_sum(record_.classes[i], of->second.sum, of->second.is_metered, where);
      classes.erase(of);
    }
    for (const auto& [name, sum] : classes) found_.add("classes", "no sum of " + name);
  }

  void check_step(const RecordStep& s, const std::string& where) {
    check_figures(s.figures, s.samples_ns, where + ".figures");
    const Workload& w = s.configuration.workload;
    const double tokens = as_double(w.batch) * as_double(w.new_tokens);
    found_.compare(where + ".tokens_per_s", s.tokens_per_s, tokens / s.figures.median_ns * ns_per_s,
                   "its tokens and time");
  }

  const MachineRecord& record_;
  RecordCheck& out_;
  RecordFindings found_;
};

}  // namespace

RecordCheck check_record(const MachineRecord& record) {
  RecordCheck out{
      .device = record.device.name, .kernels = record.kernels.size(), .steps = record.steps.size()};
  RecordChecker(record, out).check();
  return out;
}

RecordCheck check_record(const std::string& path) {
  const Json document = parse_json(read_kind(path, json_input, "record"), path);
  const Json& version = document.at("version");
  if (document.at("format") != record_format || version != record_version) {
    throw refused("a record of version " + dump_json(version), path,
                  "this halmark checks version " + std::to_string(record_version) +
                      ": take the one that wrote it, or a later one");
  }
  RecordCheck out;
  const Json& body = document.at("record");
  try {
    out = check_record(record_from(body));
  } catch (const std::invalid_argument& e) {
    out.findings.push_back({"record", std::string("it cannot be read: ") + e.what()});
  }
  if (document.at("sha256") != sha256_of(dump_json(body))) {
    out.findings.push_back({"sha256", "the record was changed after it was written"});
  }
  return out;
}

}  // namespace halmark
