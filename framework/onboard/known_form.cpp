#include "onboard/known_form.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace halmark::onboard {
namespace {

// Of figures per number of threads those of the most threads, which is the whole device.
template <class Ceiling, class IsSame>
std::vector<Ceiling> of_whole_device(std::vector<Ceiling> all, const std::string& source,
                                     const IsSame& is_same) {
  const auto whole = [](const Ceiling& c) { return c.threads == 0 ? 1 << 30 : c.threads; };
  std::ranges::stable_sort(all,
                           [&](const Ceiling& a, const Ceiling& b) { return whole(a) > whole(b); });
  std::vector<Ceiling> out;
  for (Ceiling& next : all) {
    if (std::ranges::any_of(out, [&](const Ceiling& c) { return is_same(c, next); })) continue;
    next.threads = 0;
    next.occasions.clear();
    next.source = source;
    next.confidence = Confidence::high;
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace

Device known_form(const tune::Target& target, const std::string& id, const std::string& utc) {
  if (!target.measured) {
    throw unfit("no measured peaks of " + target.device_text(), "halmark peaks measures them");
  }
  Device out = *target.measured;
  const std::string source = "measured " + utc + " by halmark onboard";
  out.id = id;
  out.is_measured = false;  // of a machine that others name, as files of configs/devices are
  out.memory_bytes = target.memory_bytes;
  out.memory_source = source;
  out.memory_confidence = Confidence::high;
  out.peaks = of_whole_device(out.peaks, source, [](const Peak& a, const Peak& b) {
    return a.path == b.path && a.isa == b.isa;
  });
  out.bandwidths =
      of_whole_device(out.bandwidths, source, [](const Bandwidth& a, const Bandwidth& b) {
        return a.level == b.level && a.access == b.access;
      });
  if (!target.datasheet) return out;
  const Device& sheet = *target.datasheet;
  out.vendor = sheet.vendor;
  out.memory_type = sheet.memory_type;
  out.power_w = sheet.power_w;
  out.power_w_high = sheet.power_w_high;
  out.power_source = sheet.power_source;
  out.power_confidence = sheet.power_confidence;
  out.links = sheet.links;
  return out;
}

}  // namespace halmark::onboard
