// Loopback TCP is measured beside every other link: what the kernel's path costs without a wire.
#include "tune/links/fabric_probe.hpp"

#include <fmt/format.h>

#include <thread>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "measure/links/tier_probe.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "simulate/fabric/fabric_text.hpp"
#include "tune/links/rank_times.hpp"

namespace halmark::tune {
namespace {

using fabric::MeasuredFabric;
using fabric::MeasuredLink;
using simulate::Collective;

double load_now() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

links::LinkProbe probe_loopback(const links::LinkProbeOptions& options) {
  links::Listener listener({"127.0.0.1", 0});
  const std::jthread server([&](const std::stop_token& stop) {
    answer_clients(
        listener, [&] { return stop.stop_requested(); }, [](const std::string&) {});
  });
  links::Socket peer = connect_to(listener.address());
  return probe_link(peer, options);
}

class Prober {
 public:
  explicit Prober(const FabricProbing& options)
      : options_(options),
        load_before_(load_now()),
        links_({"link", "one way, p50", "p99", "bandwidth", "slowest 1 %", "how"},
               {false, true, true, true, true, false}),
        collectives_({"collective", ">size", ">measured", ">modelled", ">error"}) {}

  // First what may be missing: nobody waits for a measurement that ends with a refusal.
  ProbedFabric run() {
    fabric_.id = options_.id;
    std::optional<links::Socket> peer;
    if (!options_.peer.empty()) peer = connect_to(links::parse_address(options_.peer));
    tiers();
    const links::LinkProbeOptions link{.should_stop = [this] { return is_interrupted(); }};
    add("loopback", probe_loopback(link), fabric::Transport::tcp);
    if (peer) {
      fabric_.network =
          add("tcp to " + options_.peer, probe_link(*peer, link), fabric::Transport::tcp);
    } else {
      ranks();
    }
    return finished();
  }

 private:
  bool is_interrupted() const { return options_.stop.stop_requested(); }

  std::string dated(const std::string& what) const {
    return "measured " + options_.utc + ": " + what + fmt::format("; load {:.2f}", load_before_);
  }

  MeasuredLink add(const std::string& name, const links::LinkProbe& seen,
                   fabric::Transport transport) {
    const std::string how = fmt::format(
        "{} round trips of 64 B, {} messages up to {}", seen.round_trips, transport_name(transport),
        report::bytes_text(seen.sizes.empty() ? 0.0
                                              : static_cast<double>(seen.sizes.back().bytes)));
    links_.add({name, report::duration_text(seen.latency_s() * 1e9),
                report::duration_text(seen.latency_p99_s() * 1e9),
                report::bandwidth_text(seen.bytes_per_s()),
                report::bandwidth_text(seen.slow_bytes_per_s()), how});
    const Json sizes = json_list(seen.sizes, [](const links::SizeTime& size) -> Json {
      return {{"bytes", size.bytes}, {"p50_s", size.p50_s}, {"p99_s", size.p99_s}};
    });
    links_json_.push_back({{"link", name},
                           {"transport", transport_name(transport)},
                           {"latency_s", seen.latency_s()},
                           {"latency_p99_s", seen.latency_p99_s()},
                           {"bytes_per_s", seen.bytes_per_s()},
                           {"slow_bytes_per_s", seen.slow_bytes_per_s()},
                           {"sizes", sizes}});
    return {transport, seen.latency_s(), seen.bytes_per_s(),
            dated(fmt::format("one way p50 {:.3g} us, p99 {:.3g} us of {}; {:.3g} GB/s, slowest "
                              "percent {:.3g} GB/s",
                              seen.latency_s() * 1e6, seen.latency_p99_s() * 1e6, how,
                              seen.bytes_per_s() / 1e9, seen.slow_bytes_per_s() / 1e9))};
  }

  void add_tier(const std::string& name, const links::TierProbe& seen, double read, double write,
                std::int64_t bytes, const std::string& how) {
    links_.add({name, report::duration_text(seen.latency_p50_s * 1e9),
                report::duration_text(seen.latency_p99_s * 1e9),
                read > 0 ? report::bandwidth_text(read) : "-", "-", how});
    tiers_json_.push_back({{"tier", name},
                           {"latency_s", seen.latency_p50_s},
                           {"latency_p99_s", seen.latency_p99_s},
                           {"read_bytes_per_s", read > 0 ? Json(read) : Json(nullptr)},
                           {"write_bytes_per_s", write > 0 ? Json(write) : Json(nullptr)}});
    if (read <= 0) return;
    fabric_.tiers.push_back(
        {name, bytes, read, write, seen.latency_p50_s,
         dated(fmt::format("{}; an access p50 {:.3g} us, p99 {:.3g} us", how,
                           seen.latency_p50_s * 1e6, seen.latency_p99_s * 1e6))});
  }

  void tiers() {
    if (!options_.disk.empty()) {
      const links::TierProbe disk = links::probe_storage(options_.disk, std::int64_t{512} << 20,
                                                         [this] { return is_interrupted(); });
      add_tier("nvme", disk, disk.read_bytes_per_s, disk.write_bytes_per_s, disk.bytes, disk.how);
    }
    if (is_interrupted()) return;
    const links::TierProbe memory = links::probe_memory();
    const double read = options_.memory_bytes_per_s.value_or(memory.read_bytes_per_s);
    const std::string how =
        memory.how + (options_.memory_bytes_per_s ? ", bandwidth by halmark peaks"
                                                  : ", bandwidth of one thread that copies");
    add_tier("host", memory, read, 0, options_.memory_bytes, how);
    // What a machine of one rank, or a rank and its adapter, has between them at best.
    inside_ = {fabric::Transport::shared_memory, memory.latency_p50_s, read, dated(how)};
  }

  // MPI between two ranks of this machine.
  void ranks() {
    if (!options_.measuring || options_.cores < 2) {
      fabric_.notes.push_back(options_.cores < 2 ? "one core: no two ranks were measured"
                                                 : "no MPI: no two ranks were measured");
      return;
    }
    for (const Collective collective : {Collective::send_recv, Collective::all_reduce}) {
      if (is_interrupted()) return;
      const RankTimes times = measure_two_ranks(collective, *options_.measuring);
      const std::string name(collective_name(collective));
      if (times.points.empty()) {
        fabric_.notes.push_back(name + " of two ranks: " + times.reason);
        continue;
      }
      if (is_interrupted()) return;
      if (collective == Collective::send_recv) inside_ = inside_of(times);
      try {
        add_fit(name, fit_half(collective, times.points));
      } catch (const Error& e) {  // too few sizes are left where the machine was busy
        fabric_.notes.push_back(name + " of two ranks is not fitted: " + e.what());
      }
    }
  }

  // A message of 1 KiB is the latency; the largest one beyond it the bandwidth.
  MeasuredLink inside_of(const RankTimes& times) const {
    const auto at = [&](double bytes) {
      std::vector<double> seconds;
      for (const auto& p : times.points) {
        if (p.bytes == bytes) seconds.push_back(p.seconds);
      }
      return median(seconds);
    };
    const double least = at(times.points.front().bytes), last_bytes = times.points.back().bytes;
    const double bytes_per_s = last_bytes / (at(last_bytes) - least);
    return {fabric::Transport::shared_memory, least, bytes_per_s,
            dated(fmt::format("MPI between two ranks of this machine, {:.3g} us at 1 KiB, {:.3g} "
                              "GB/s at {}",
                              least * 1e6, bytes_per_s / 1e9, report::bytes_text(last_bytes)))};
  }

  void add_fit(const std::string& name, const HalvedFit& half) {
    Json rows = Json::array();
    for (const PredictedSize& size : half.predicted) {
      const double error = size.modelled_s / size.measured_s - 1;
      collectives_.add(
          {name, report::bytes_text(size.bytes), report::duration_text(size.measured_s * 1e9),
           report::duration_text(size.modelled_s * 1e9), fmt::format("{:+.1f} %", 100 * error)});
      rows.push_back({{"bytes", size.bytes},
                      {"measured_s", size.measured_s},
                      {"modelled_s", size.modelled_s}});
    }
    collectives_json_.push_back({{"collective", name},
                                 {"shape", curve_shape_name(half.fit.curve.shape)},
                                 {"mean_error", half.mean_error},
                                 {"worst_error", half.worst_error},
                                 {"predicted", rows}});
    errors_ += fmt::format(
        "{}: {} by every other size, the others predicted to {:.1f} % in the mean, {:.1f} % at "
        "worst\n",
        name, curve_shape_name(half.fit.curve.shape), 100 * half.mean_error,
        100 * half.worst_error);
  }

  ProbedFabric finished() {
    fabric_.name = options_.peer.empty() ? "this machine, measured"
                                         : "this machine and " + options_.peer + ", measured";
    fabric_.devices = std::max(options_.cores, 1);
    fabric_.inside = inside_;
    ProbedFabric out;
    if (!is_interrupted()) out.file = fabric_text(fabric_);
    const double load_after = load_now();
    out.view.data = {{"id", fabric_.id},
                     {"links", links_json_},
                     {"tiers", tiers_json_},
                     {"collectives", collectives_json_},
                     {"load", {{"before", load_before_}, {"after", load_after}}},
                     {"notes", fabric_.notes},
                     {"fabric", out.file}};
    out.view.text = links_.text();
    if (!errors_.empty()) out.view.text += '\n' + collectives_.text() + '\n' + errors_;
    for (const std::string& note : fabric_.notes) out.view.text += "\nnote: " + note + '\n';
    out.view.text += fmt::format("\nload of the machine: {:.2f} before, {:.2f} after\n",
                                 load_before_, load_after);
    return out;
  }

  const FabricProbing& options_;
  double load_before_;
  MeasuredFabric fabric_;
  MeasuredLink inside_;
  report::TextTable links_, collectives_;
  Json links_json_ = Json::array(), tiers_json_ = Json::array(), collectives_json_ = Json::array();
  std::string errors_;
};

}  // namespace

ProbedFabric probe_fabric(const FabricProbing& options) { return Prober(options).run(); }

}  // namespace halmark::tune
