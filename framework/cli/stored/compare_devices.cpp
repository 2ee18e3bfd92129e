// halmark compare-devices: devices side by side, each against its peaks.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "history/series.hpp"
#include "history/view/device_comparison_view.hpp"
#include "tune/sources/device_sides.hpp"

namespace halmark::cli {

Action add_compare_devices(OptionSet& app) {
  struct Options {
    tune::SideChoice sides;
    std::string floor = "3%";
    std::vector<std::string> what_ifs, out;
  };
  auto o = std::make_shared<Options>();
  app.add_option("sides", o->sides.names,
                 "Two to six: a results database, FILE.db:RUN, a table of kernel times (each with "
                 "=DEVICE where it does not say), a known device or device file: its bound")
      ->required();
  app.add_option("--what-if", o->what_ifs,
                 "[SIDE:]bandwidth=+20%, peak=x2, link=-50% of one side, the first by default");
  app.add_option("--price", o->sides.prices, "DEVICE=USD an hour, where its file has none");
  app.add_option("--op", o->sides.op, "Kernels of this op alone");
  app.add_option("--layout", o->sides.layout, "TOML file that describes a table's columns");
  app.add_option("--floor", o->floor, "Smaller differences of a time are a tie (default 3%)");
  app.add_option("--out,-o", o->out, "File to write, format by suffix: .html .json .csv .md");
  return [o](const GlobalOptions&) {
    std::vector<history::WhatIf> what_ifs;
    for (const std::string& text : o->what_ifs) {
      what_ifs.push_back(history::parse_what_if(text, o->sides.names.size()));
    }
    const history::DeviceComparison comparison = history::compare_devices(
        tune::device_sides(o->sides, config_dirs("devices")),
        {.floor = history::parse_floor(o->floor, "--floor")}, std::move(what_ifs));
    history::write_device_comparison(comparison, o->out);
    return shown(history::device_comparison_view(comparison, stdout_columns()));
  };
}

}  // namespace halmark::cli
