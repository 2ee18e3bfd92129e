#include "verify/measured_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "journal/rows/row_codec.hpp"

namespace halmark {
namespace {

// The same order statistics, perhaps by another compiler: one rounding of an interpolation apart.
constexpr double tolerance = 1e-12;

bool agree(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

struct Summary {
  double median = 0, min = 0, relative_iqr = 0;
  Interval interval;
};

Summary summary_of(const std::vector<double>& ns) {
  return {.median = median(ns),
          .min = std::ranges::min(ns),
          .relative_iqr = relative_iqr(ns),
          .interval = median_interval(ns).interval};
}

class Faults {
 public:
  explicit Faults(std::vector<RowFault>& out) : out_(out) {}
  void compare(const char* name, double stored, double computed, const char* from) {
    if (agree(stored, computed)) return;
    out_.push_back({"body", fmt::format("{} is {}; {} give {}", name, stored, from, computed)});
  }

 private:
  std::vector<RowFault>& out_;
};

void compare_times(const Measurement& m, std::vector<RowFault>& out) {
  std::vector<double> ns = mapped(counted_samples(m.samples),
                                  [&](const Sample& s) { return s.device_ns.value_or(s.wall_ns); });
  const Summary s = summary_of(ns);
  Faults faults(out);
  constexpr const char* from = "its samples";
  faults.compare("duration_ns_median", m.duration_ns_median, s.median, from);
  faults.compare("duration_ns_interval low", m.duration_ns_interval.low, s.interval.low, from);
  faults.compare("duration_ns_interval high", m.duration_ns_interval.high, s.interval.high, from);
  faults.compare("duration_ns_min", m.duration_ns_min, s.min, from);
  faults.compare("relative_iqr", m.relative_iqr, s.relative_iqr, from);
}

// Of shards that ran together each sample is that of one of them: the slowest by the host's clock
// where no device has one.
void compare_shards(const Measurement& m, std::vector<RowFault>& out) {
  for (std::size_t i = 0; i < m.samples.size() && !m.shard_wall_ns.empty(); ++i) {
    double slowest = std::numeric_limits<double>::lowest();
    bool is_one = false;
    for (const auto& series : m.shard_wall_ns) {
      if (series.size() != m.samples.size()) {
        out.push_back({"samples", "a shard has another number of samples than the row"});
        return;
      }
      slowest = std::max(slowest, series[i]);
      is_one = is_one || series[i] == m.samples[i].wall_ns;
    }
    if (is_one && (m.samples[i].device_ns || slowest == m.samples[i].wall_ns)) continue;
    out.push_back({"samples", fmt::format("sample {} is not that of the slowest shard", i)});
    return;
  }
}

bool is_stated(const Measurement& m) {
  return m.duration_ns_median != 0 || m.duration_ns_min != 0 || m.duration_ns_interval.low != 0 ||
         m.duration_ns_interval.high != 0;
}

}  // namespace

CheckedMeasurement check_measurement(const StoredEntry& entry) {
  CheckedMeasurement out;
  try {
    const Json body = parse_json(entry.body, "body");
    const journal::SampleBytes samples = journal::sample_bytes(body, entry.samples, entry.block);
    Measurement m = journal::measurement_from(body, samples.bytes);
    if (m.kernel_case.key() != entry.key) {
      out.faults.push_back({"key", "this is not the kernel case of its body"});
    }
    out.misses_samples = samples.state == journal::SampleBytes::State::missing;
    const std::string fault = fault_of(samples.state);
    if (!fault.empty()) {
      if (!out.misses_samples) out.faults.push_back({"samples", fault});
    } else if (!m.samples.empty()) {
      compare_times(m, out.faults);
      compare_shards(m, out.faults);
    } else if (has_latency(m.status) || is_stated(m)) {
      out.faults.push_back({"samples", "the row has a time, and no samples that it follows from"});
    }
    out.value = std::move(m);
  } catch (const std::exception& e) {
    out.faults.push_back({"body", std::string("this measurement cannot be read: ") + e.what()});
  }
  return out;
}

std::vector<RowFault> check_validation(const StoredEntry& entry) {
  std::vector<RowFault> out;
  try {
    const Validation v = journal::validation_from(parse_json(entry.body, "body"));
    if (v.deployment_key != entry.key) {
      out.push_back({"key", "this is not the configuration of its body"});
    }
    // Earlier versions kept no repetitions, and of a pipeline one period times its stages.
    const bool is_period = !v.bubble_share && v.deployment_key.find(" pp1 ") == std::string::npos;
    if (v.step_ns.empty() || is_period) return out;
    const Summary s = summary_of(v.step_ns);
    Faults faults(out);
    constexpr const char* from = "its repetitions";
    faults.compare("measured_ns", v.measured_ns, s.median, from);
    faults.compare("measured_interval_ns low", v.measured_interval_ns.low, s.interval.low, from);
    faults.compare("measured_interval_ns high", v.measured_interval_ns.high, s.interval.high, from);
  } catch (const std::exception& e) {
    out.push_back({"body", std::string("this validation cannot be read: ") + e.what()});
  }
  return out;
}

}  // namespace halmark
