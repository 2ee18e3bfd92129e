// halmark forecasts: which kernels of which engine on which known device are forecast, how well.
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "tune/sizing/forecasts_view.hpp"

namespace halmark::cli {

Action add_forecasts(OptionSet& app) {
  const auto device = app.add<std::string>("device", "Of this known device, kind by kind");
  return [device](const GlobalOptions&) {
    return shown(tune::forecasts_view(*device, config_dirs("forecasts"), config_dirs("devices"),
                                      stdout_columns()));
  };
}

}  // namespace halmark::cli
