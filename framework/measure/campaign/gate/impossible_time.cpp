#include "measure/campaign/gate/impossible_time.hpp"

#include <algorithm>
#include <string_view>

#include "core/lists.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

class Times {
 public:
  Times(const Measurement& row, const protocol::DeviceDescription& device, int threads)
      : row_(row), device_(device), threads_(threads) {}

  std::optional<std::string> contradiction() const {
    if (auto why = too_short()) return why;
    if (auto why = slow_clock()) return why;
    if (auto why = skipped_repeats()) return why;
    if (auto why = short_of_slope()) return why;
    if (auto why = remembered_answers()) return why;
    if (auto why = foreign_cpus()) return why;
    return lazy_read();
  }

  std::optional<std::string> doubt() const {
    if (clock_gap_ns() <= 0 || slow_clock()) return std::nullopt;
    return both_clocks() + ", and " + figure(*signal("request_wait_ns")) +
           " went by waiting for a CPU: too long to tell that from a clock that was tampered with";
  }

 private:
  static std::string figure(double ns) { return number_text(ns, 4) + " ns"; }

  std::optional<double> signal(std::string_view name) const {
    const auto* found = find_or_null(row_.signals, name, &Signal::name);
    return !found ? std::nullopt : found->value;
  }

  double median_ns() const { return row_.duration_ns_median; }

  // A request is the whole of the loop and the checks around it, so that the way to the worker and
  // back is little of it: what is missing beyond that.
  double clock_gap_ns() const {
    constexpr double share = 0.05, least_ns = 50e6;
    const auto own = signal("request_ns"), host = signal("request_host_ns");
    if (!own || !host) return 0;
    return *host - *own - std::max(share * *host, least_ns);
  }

  std::string both_clocks() const {
    return "its worker's clock counts " + figure(*signal("request_ns")) +
           " where the host's counts " + figure(*signal("request_host_ns"));
  }

  std::optional<std::string> too_short() const {
    if (median_ns() <= 0) return "the median is not above 0 ns";
    // An execution reads where its arguments lie and writes a result: several cycles.
    constexpr double least_ns = 1;
    if (median_ns() >= least_ns) return std::nullopt;
    return figure(median_ns()) + " per execution is below the " + figure(least_ns) +
           " that starting one takes";
  }

  // What computes in the worker's process can write over its clock; the parent's is out of reach.
  std::optional<std::string> slow_clock() const {
    if (clock_gap_ns() <= signal("request_wait_ns").value_or(0)) return std::nullopt;
    return both_clocks() + ": the clock was tampered with";
  }

  // Where a call costs the launch of a device that works alone, more repeats may be nearly free.
  std::optional<std::string> skipped_repeats() const {
    if (row_.repeat <= 1) return std::nullopt;
    const auto share = signal("repeat_cost_share"), second = signal("second_execution_share");
    const double limit = device_.synchronous ? 0.25 : 0.05;
    if (share && *share < limit) {
      return "twice the repeats take " + number_text(100 * *share, 3) +
             " % more time: repeats are skipped";
    }
    constexpr double second_limit = 0.25;
    if (!device_.synchronous || !second || *second >= second_limit) return std::nullopt;
    return "two executions take " + number_text(100 * *second, 3) +
           " % longer than one: repeats are skipped";
  }

  std::optional<std::string> short_of_slope() const {
    constexpr double slope_share = 0.95;
    const auto slope_ns = signal("slope_device_ns");
    if (!slope_ns || median_ns() >= slope_share * *slope_ns) return std::nullopt;
    return "the device's median is " + figure(median_ns()) + ", one execution more takes it " +
           figure(*slope_ns);
  }

  std::optional<std::string> remembered_answers() const {
    constexpr double limit = 1.5;
    const auto cost = signal("new_inputs_cost");
    if (!cost || *cost <= limit) return std::nullopt;
    return "new inputs take " + number_text(*cost, 3) +
           " times as long as the same ones again: answers are remembered";
  }

  // An affinity mask can be widened by whom it binds.
  std::optional<std::string> foreign_cpus() const {
    constexpr double tolerance = 0.25;
    const auto used = signal("cpus_used");
    if (threads_ < 1 || !used || *used <= threads_ + tolerance) return std::nullopt;
    return "threads of the plugin use " + number_text(*used, 3) + " CPUs, and " +
           std::to_string(threads_) + " were given to it";
  }

  std::optional<std::string> lazy_read() const {
    constexpr double share_of_median = 0.1, spreads = 3;
    constexpr double share_of_read = 0.01;  // three reads may agree better than the next one does
    const auto excess_ns = signal("read_excess_ns"), spread_ns = signal("read_spread_ns");
    if (!excess_ns || !spread_ns) return std::nullopt;
    const double limit_ns = std::max({share_of_median * median_ns(), spreads * *spread_ns,
                                      share_of_read * signal("read_ns").value_or(0)});
    if (*excess_ns <= limit_ns) return std::nullopt;
    return "the first read of an output takes " + figure(*excess_ns) +
           " longer than the second: work is done when it is read";
  }

  const Measurement& row_;
  const protocol::DeviceDescription& device_;
  int threads_;
};

}  // namespace

std::optional<std::string> impossible_time(const Measurement& row,
                                           const protocol::DeviceDescription& device, int threads) {
  return Times(row, device, threads).contradiction();
}

std::optional<std::string> uncertain_time(const Measurement& row) {
  return Times(row, {}, 0).doubt();
}

}  // namespace halmark
