#include "worker/device_state.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/text/text.hpp"

namespace halmark::worker {

namespace {

std::string slowdown_text(std::uint32_t bits) {
  constexpr std::array<std::pair<std::uint32_t, const char*>, 2> names{
      {{HM_THROTTLE_THERMAL, "temperature"}, {HM_THROTTLE_HARDWARE_SLOWDOWN, "its hardware"}}};
  std::string out;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) != 0) append_item(out, ", ", name);
  }
  return out;
}

// Of one execution. What an idle device takes is none of it.
void add_energy(const char* name, double uj, double busy_share, std::vector<Signal>& signals) {
  constexpr double busy_share_min = 0.9;
  if (busy_share >= busy_share_min) {
    signals.push_back({name, uj, {}});
  } else {
    signals.push_back(
        {name, std::nullopt,
         "the device was busy for " + number_text(100 * busy_share, 3) + " % of the loop only"});
  }
}

}  // namespace

void DeviceState::begin() {
  begun_ = SteadyClock::now();
  if (auto read = device_.energy_microjoules()) energy_before_uj_ = *read;
  if (device_.description().kind == "cpu") packages_.emplace(PackageEnergy::root_of_machine());
  if (auto read = device_.clocks()) before_ = *read;
}

void DeviceState::end(double executions, double busy_ns, std::vector<Signal>& signals) {
  const double busy_share = busy_ns * 1e-9 / seconds_since(begun_);
  const auto after = device_.clocks();
  const auto energy = device_.energy_microjoules();
  const auto add = [&](const char* name, std::optional<double> value) {
    if (value) signals.push_back({name, value, {}});
  };
  if (before_ && after) {
    add("device_clock_hz_before", before_->core_hz);
    add("device_clock_hz_after", after->core_hz);
    add("device_memory_hz", after->memory_hz);
    add("device_temperature_c", after->temperature_c);
    add("device_power_w", after->power_w);
    const std::uint32_t throttle = before_->throttle | after->throttle;
    if (before_->core_hz || throttle != 0) {
      const std::string by = slowdown_text(throttle);
      add("device_power_limited", (throttle & HM_THROTTLE_POWER) != 0 ? 1 : 0);
      signals.push_back({"device_slowed_down", by.empty() ? 0 : 1, by});
    }
  }
  const auto packages_uj = packages_ ? packages_->microjoules_since() : std::nullopt;
  if (executions <= 0) return;
  if (energy_before_uj_ && energy) {
    add_energy("device_energy_uj", (*energy - *energy_before_uj_) / executions, busy_share,
               signals);
  }
  if (packages_uj) add_energy("package_energy_uj", *packages_uj / executions, busy_share, signals);
}

}  // namespace halmark::worker
