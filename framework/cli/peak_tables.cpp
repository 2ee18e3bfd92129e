// The figures of a measured device: the best of each ceiling, and how far its occasions lie apart.
#include "cli/peak_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/terminal.hpp"

namespace halmark::cli {
namespace {

Json occasions_json(const std::vector<Occasion>& occasions) {
  Json out = Json::array();
  for (const Occasion& o : occasions) {
    out.push_back({{"utc", o.utc.empty() ? Json(nullptr) : Json(o.utc)},
                   {"probes", o.probes},
                   {"median", o.median},
                   {"highest", o.highest}});
  }
  return out;
}

// "3, 450 probes" and what is still missing to a figure that stays.
std::string occasions_text(const std::vector<Occasion>& occasions, bool is_provisional) {
  if (occasions.empty()) return "-";
  return fmt::format("{}, {} probes{}", occasions.size(), best_rate(occasions).probes,
                     is_provisional ? ", provisional" : "");
}

// Of the median of each occasion: how far the machine's states lie apart.
std::string typical_text(const std::vector<Occasion>& occasions, const char* unit) {
  if (occasions.empty()) return "-";
  const auto [low, high] = std::ranges::minmax(occasions, {}, &Occasion::median);
  const std::string least = rate_text(low.median, unit), most = rate_text(high.median, unit);
  return least == most ? least : least + " .. " + most;
}

}  // namespace

Json peaks_json(const Device& d) {
  Json peaks = Json::array(), bandwidths = Json::array();
  for (const Peak& p : d.peaks) {
    peaks.push_back({{"path", p.path},
                     {"dtype", std::string(dtype_name(p.dtype))},
                     {"isa", p.isa},
                     {"threads", p.threads},
                     {"flops_per_s", p.flops_per_s},
                     {"flops_per_s_q90", optional_number(p.flops_per_s_q90)},
                     {"provisional", p.is_provisional},
                     {"occasions", occasions_json(p.occasions)},
                     {"source", p.source}});
  }
  for (const Bandwidth& b : d.bandwidths) {
    bandwidths.push_back({{"level", b.level},
                          {"threads", b.threads},
                          {"bytes_per_s", b.bytes_per_s},
                          {"working_set_bytes", b.working_set_bytes},
                          {"access", b.access},
                          {"provisional", b.is_provisional},
                          {"occasions", occasions_json(b.occasions)},
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

std::string peaks_table(const Device& d, const std::optional<Device>& datasheet) {
  TextTable peaks({"path", "isa", "threads", "best", "median", "occasions", "of datasheet"},
                  {false, false, true, true, true, false, true});
  for (const Peak& p : d.peaks) {
    const auto stated = datasheet ? datasheet->peak(p.dtype, p.threads) : std::nullopt;
    peaks.add({p.path, p.isa, std::to_string(p.threads), rate_text(p.flops_per_s),
               typical_text(p.occasions, "FLOP/s"), occasions_text(p.occasions, p.is_provisional),
               stated ? percent_text(p.flops_per_s / stated->flops_per_s) : "-"});
  }
  TextTable bandwidths({"level", "threads", "access", "best", "median", "occasions", "working set"},
                       {false, true, false, true, true, false, true});
  for (const Bandwidth& b : d.bandwidths) {
    bandwidths.add({b.level, std::to_string(b.threads), b.access.empty() ? "-" : b.access,
                    rate_text(b.bytes_per_s, "B/s"), typical_text(b.occasions, "B/s"),
                    occasions_text(b.occasions, b.is_provisional),
                    bytes_text(static_cast<double>(b.working_set_bytes))});
  }
  std::string out = d.name + '\n' + '\n' + peaks.text() + '\n' + bandwidths.text() +
                    "\nbest: the third-highest probe of at least two occasions 10 minutes apart; "
                    "provisional until then\n";
  if (d.ring_plateau_bytes) {
    out += fmt::format("\nconstants are cold from a ring of {}\n",
                       bytes_text(static_cast<double>(*d.ring_plateau_bytes)));
  }
  return out;
}

}  // namespace halmark::cli
