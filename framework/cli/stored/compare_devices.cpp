// halmark compare-devices: devices side by side, each against its peaks.
#include <memory>

#include "cli/console/command.hpp"
#include "core/lists.hpp"
#include "history/series.hpp"
#include "history/view/device_comparison_view.hpp"
#include "tune/requests/model_on_devices.hpp"
#include "tune/sources/device_sides.hpp"

namespace halmark::cli {

Action add_compare_devices(OptionSet& app) {
  const auto sides = std::make_shared<tune::SideChoice>();
  app.add_option("sides", sides->names,
                 "Two to six: a results database, FILE.db:RUN, a table of kernel times (each with "
                 "=DEVICE where it does not say), a record, a known device or device file: its "
                 "bound")
      ->required();
  const auto texts = app.add<std::vector<std::string>>(
      "--what-if", "[SIDE:]bandwidth=+20%, peak=x2, link=-50% of one side, the first by default");
  app.add_option("--price", sides->prices, "DEVICE=USD an hour, where its file has none");
  app.add_option("--op", sides->op, "Kernels of this op alone");
  app.add_option("--layout", sides->layout, "TOML file that describes a table's columns");
  const auto floor =
      app.add<std::string>("--floor", "Smaller differences of a time are a tie (default 3%)", "3%");
  const auto out = app.add<std::vector<std::string>>(
      "--out,-o", "File to write, format by suffix: .html .json .csv .md");
  const auto of = std::make_shared<tune::DevicesRequest>();
  AskedSweep& asked = of->asked;
  std::vector<Option> of_model = {
      app.add_option("--model", asked.model, "One model served on the devices at equal levels"),
      app.add_option("--devices", asked.devices,
                     "With --model: of each (default: the fewest that hold it)")
          .check(within(1, 65536))};
  for (Option& option : add_request_options(app, asked)) of_model.push_back(option);
  for (Option& option : of_model) {
    if (&option != &of_model.front()) option.with("--model");
    for (const char* o : {"--what-if", "--op", "--layout", "--floor", "--out"}) option.excludes(o);
  }
  return [=](const GlobalOptions&) {
    if (!of->asked.model.empty()) {
      of->names = sides->names;
      of->prices = sides->prices;
      return tune::model_on_devices_view(tune::model_on_devices(*of, step_folders()),
                                         stdout_columns());
    }
    std::vector<history::WhatIf> what_ifs = mapped(*texts, [&](const std::string& text) {
      return history::parse_what_if(text, sides->names.size());
    });
    const history::DeviceComparison comparison = history::compare_devices(
        tune::device_sides(*sides, config_dirs("devices")),
        {.floor = history::parse_floor(*floor, "--floor")}, std::move(what_ifs));
    history::write_device_comparison(comparison, *out);
    return history::device_comparison_view(comparison, stdout_columns());
  };
}

}  // namespace halmark::cli
