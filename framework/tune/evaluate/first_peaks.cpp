#include "tune/evaluate/first_peaks.hpp"

#include "core/lists.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::tune {

FirstPeaks::FirstPeaks(const Store& store, std::int64_t run, const Target& target) {
  for (const UsedPeaks& used : store.rows<UsedPeaks>(run)) {
    const std::string name = used.devices.empty() ? target.device_text() : used.devices.front();
    const auto [at, is_first] = devices_.try_emplace(name);
    if (!is_first) continue;
    at->second = parse_device(used.device_text, "run " + std::to_string(run));
    bounds_.emplace(name, CaseBounds({.device = &at->second, .threads = used.threads}));
  }
}

CaseBound FirstPeaks::of(const KernelCase& kernel_case) const {
  const auto* own = find_value(bounds_, kernel_case.backend + ':' + kernel_case.device);
  return (!own ? unbounded_ : *own).of(kernel_case);
}

const Device* FirstPeaks::device(const KernelCase& kernel_case) const {
  const auto* own = find_value(devices_, kernel_case.backend + ':' + kernel_case.device);
  return own;
}

}  // namespace halmark::tune
