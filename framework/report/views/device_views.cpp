// Datasheets state ranges, sources and confidence; a measured device states how it was measured.
#include "report/views/device_views.hpp"

#include <fmt/format.h>

#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"

namespace halmark::report {
namespace {

// "12.6 to 15 PFLOP/s": a range where sources disagree.
std::string range_text(double low, std::optional<double> high, const std::string& unit) {
  return high && *high > low ? rate_text(low, unit) + " to " + rate_text(*high, unit)
                             : rate_text(low, unit);
}

// The lowest confidence of a device's figures: what a gate on it would rest on.
Confidence weakest(const Device& d) {
  Confidence out = Confidence::unstated;
  const auto take = [&](Confidence c) {
    if (c != Confidence::unstated && (out == Confidence::unstated || c < out)) out = c;
  };
  for (const Peak& p : d.peaks) take(p.confidence);
  for (const Bandwidth& b : d.bandwidths) take(b.confidence);
  for (const Link& link : d.links) take(link.confidence);
  take(d.memory_confidence);
  take(d.power_confidence);
  return out;
}

std::string peaks_text(const Device& d) {
  std::string out = join(d.peaks, ", ", [](const Peak& p) {
    return p.path + ' ' +
           range_text(p.flops_per_s, p.flops_per_s_high, is_integer(p.dtype) ? "OP/s" : "FLOP/s") +
           (p.is_derived ? " (derived)" : "");
  });
  return out.empty() ? "-" : out;
}

std::string memory_bandwidth_text(const Device& d) {
  for (const Bandwidth& b : d.bandwidths) {
    if (b.level == "memory") return range_text(b.bytes_per_s, b.bytes_per_s_high, "B/s");
  }
  return "-";
}

std::string link_text(const Device& d) {
  if (d.links.empty()) return "-";
  const Link& link = d.links.front();
  return range_text(link.bytes_per_s, link.bytes_per_s_high, "B/s") +
         (link.domain_devices ? " x " + std::to_string(*link.domain_devices) : "");
}

std::string power_text(const Device& d) {
  if (!d.power_w) return "-";
  return d.power_w_high ? fmt::format("{:g} to {:g} W", *d.power_w, *d.power_w_high)
                        : fmt::format("{:g} W", *d.power_w);
}

std::string tiers_text(const Device& d) {
  if (d.memory_bytes == 0) return "-";
  const auto low = as_double(d.memory_bytes) / 1e9;
  return d.memory_bytes_high
             ? fmt::format("{:g} to {:g} GB", low, as_double(*d.memory_bytes_high) / 1e9)
             : fmt::format("{:g} GB", low);
}

// "3, 450 probes" and what is still missing to a figure that stays.
std::string occasions_text(const std::vector<Occasion>& occasions, bool is_provisional) {
  if (occasions.empty()) return "-";
  const BestRate best = best_rate(occasions);
  return fmt::format("{}, {} probes{}{}", occasions.size(), best.probes,
                     is_provisional ? ", provisional" : "", best.is_busy ? ", busy" : "");
}

// Of the median of each occasion: how far the machine's states lie apart.
std::string typical_text(const std::vector<Occasion>& occasions, const char* unit) {
  if (occasions.empty()) return "-";
  const auto [low, high] = std::ranges::minmax(occasions, {}, &Occasion::median);
  const std::string least = rate_text(low.median, unit), most = rate_text(high.median, unit);
  return least == most ? least : least + " .. " + most;
}

// Of a device that no probe of ours reaches.
std::string upper_ends_text(const Device& d) {
  std::string out;
  for (const Peak& p : d.peaks) {
    if (p.flops_per_s_high) out += ", " + p.path + ' ' + flops_text(*p.flops_per_s_high);
  }
  for (const Bandwidth& b : d.bandwidths) {
    if (b.bytes_per_s_high) out += ", " + b.level + ' ' + bandwidth_text(*b.bytes_per_s_high);
  }
  if (!out.empty()) {
    out = "\nat most, by the datasheet at the highest clock of the driver: " + out.substr(2) + '\n';
  }
  for (const std::string& note : d.notes) out += "\nno figure of " + note + '\n';
  return out;
}

// By the name of the path where the datasheet has it: vector and matrix engines differ. A path
// that it does not state is no part of another's.
std::optional<Peak> stated_peak(const Device& datasheet, const Peak& p) {
  const auto same = std::ranges::find(datasheet.peaks, p.path, &Peak::path);
  if (same != datasheet.peaks.end()) return *same;
  return p.threads == 0 ? std::nullopt : datasheet.peak(p.dtype, p.threads);
}

std::string measured_device_text(const Device& d, const std::optional<Device>& datasheet) {
  TextTable peaks({"path", "isa", ">threads", ">best", ">median", "occasions", ">of datasheet"});
  for (const Peak& p : d.peaks) {
    const auto stated = datasheet ? stated_peak(*datasheet, p) : std::nullopt;
    peaks.add({p.path, p.isa, std::to_string(p.threads), flops_text(p.flops_per_s),
               typical_text(p.occasions, "FLOP/s"), occasions_text(p.occasions, p.is_provisional),
               stated ? rounded_percent_text(p.flops_per_s / stated->flops_per_s) : "-"});
  }
  TextTable bandwidths(
      {"level", ">threads", "access", ">best", ">median", "occasions", ">working set"});
  for (const Bandwidth& b : d.bandwidths) {
    bandwidths.add({b.level, std::to_string(b.threads), b.access.empty() ? "-" : b.access,
                    bandwidth_text(b.bytes_per_s), typical_text(b.occasions, "B/s"),
                    occasions_text(b.occasions, b.is_provisional),
                    bytes_text(b.working_set_bytes)});
  }
  std::string out = d.name + '\n' + '\n' + peaks.text() + '\n' + bandwidths.text() +
                    "\nbest: the third-highest probe of at least two occasions 10 minutes apart; "
                    "provisional until then; busy: beside other work, so that it may be more\n";
  out += upper_ends_text(d);
  if (d.ring_plateau_bytes) {
    out += fmt::format("\nconstants are cold from a ring of {}\n",
                       bytes_text(as_double(*d.ring_plateau_bytes)));
  }
  return out;
}

}  // namespace

View known_devices_view(std::span<const Device> devices, int width) {
  Table table{.columns = {{"id"},
                          {"name"},
                          {"kind"},
                          {"memory", true},
                          {"bandwidth", true},
                          {"link, one way", true},
                          {"power", true},
                          {"confidence"},
                          {"peaks"}}};
  Json list = Json::array();
  for (const Device& d : devices) {
    const std::string_view confidence = confidence_name(weakest(d));
    auto& row = table.rows.emplace_back();
    for (const std::string& text :
         {d.id, d.name, d.kind, tiers_text(d), memory_bandwidth_text(d), link_text(d),
          power_text(d), confidence.empty() ? "-" : std::string(confidence), peaks_text(d)}) {
      row.push_back({text});
    }
    list.push_back(Json(d));
  }
  const std::string constant = take_constants(table);
  return {.data = {{"known", std::move(list)}},
          .text = (constant.empty() ? "" : wrapped(constant, width)) + stacked_text(table, width)};
}

std::string busy_text(const Device& device) {
  const auto is_busy = [](const auto& figure) { return best_rate(figure.occasions).is_busy; };
  const auto busy = std::ranges::count_if(device.peaks, is_busy) +
                    std::ranges::count_if(device.bandwidths, is_busy);
  if (busy == 0) return {};
  return fmt::format("{} of {} figures were probed beside other work and may be more", busy,
                     device.peaks.size() + device.bandwidths.size());
}

View measured_device_view(const Device& device, const std::optional<Device>& datasheet) {
  return {.data = Json(device), .text = measured_device_text(device, datasheet)};
}

}  // namespace halmark::report
