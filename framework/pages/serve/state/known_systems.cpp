#include "pages/serve/state/known_systems.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/fabric/fabric_file.hpp"

namespace halmark::pages {
namespace {

constexpr std::size_t systems_max = 8;

}  // namespace

void KnownSystems::require_listed(const PageState& state) {
  if (models_.empty()) {
    for (const ModelListing& model : list_models(sources_.models)) {
      models_.insert(model.id);
      models_.insert(model.aliases.begin(), model.aliases.end());
    }
    for (const Device& device : known_devices(sources_.devices)) {
      devices_.insert(device.id);
      devices_.insert(device.aliases.begin(), device.aliases.end());
    }
    for (const auto& topology : fabric::known_fabrics(sources_.fabrics)) {
      fabrics_.insert(topology.id);
    }
    if (sources_.here) devices_.insert(sources_.here->id);
  }
  const auto check = [](const char* kind, const std::string& name, const auto& listed) {
    if (listed.contains(name)) return;
    throw refused(std::string("unknown ") + kind + " '" + printable(name) + "'", {},
                  suggestion(name, {listed.begin(), listed.end()}));
  };
  check("model", state.model, models_);
  check("device", state.device, devices_);
  if (!state.fabric.empty()) check("fabric", state.fabric, fabrics_);
}

PricedSystem& KnownSystems::system(const PageState& state) {
  require_listed(state);
  const auto same = std::ranges::find_if(systems_, [&](const Known& one) {
    return one.device == state.device && one.model == state.model && one.fabric == state.fabric &&
           one.is_training == (state.phase == Phase::training);
  });
  if (same != systems_.end()) {
    systems_.splice(systems_.begin(), systems_, same);
    return *systems_.front().system;
  }
  systems_.push_front({state.device, state.model, state.fabric, state.phase == Phase::training,
                       std::make_unique<PricedSystem>(state, sources_)});
  if (systems_.size() > systems_max) systems_.pop_back();
  return *systems_.front().system;
}

}  // namespace halmark::pages
