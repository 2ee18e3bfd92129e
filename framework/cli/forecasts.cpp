// halmark forecasts: which kernels of which engine on which known device are forecast, how well.
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "tune/sources/forecasts_view.hpp"

namespace halmark::cli {

Action add_forecasts(OptionSet& app) {
  const auto device = app.add<std::string>("device", "Of this known device, kind by kind");
  return [device](const GlobalOptions&) {
    const bool is_one = !device->empty();
    const std::string id = is_one ? known_device(*device).id : "";
    const auto files = forecast_files(config_dirs("forecasts"), id);
    if (is_one && files.empty()) {
      throw refused("no forecast tables of " + id, {}, "without a device, all of them are listed");
    }
    return shown(tune::forecasts_view(files, is_one, stdout_columns()));
  };
}

}  // namespace halmark::cli
