#include "tune/sizing/forecasts_view.hpp"

#include <algorithm>

#include "core/fields/json_visitor.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "plan/device/device_file.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::tune {
namespace {

// Over series, by the rows that were left out; where all are kept, by each of them, as the others
// predict it.
std::optional<double> mean_error(std::span<const ForecastKind> kinds,
                                 std::optional<double> ForecastSeries::*error) {
  double sum = 0, rows = 0;
  for (const ForecastKind& kind : kinds) {
    for (const ForecastSeries& series : kind.series) {
      const auto left_out = static_cast<double>(series.of - std::min(series.of, series.rows));
      if (!(series.*error)) continue;
      const double judged = left_out > 0 ? left_out : static_cast<double>(series.rows);
      sum += judged * *(series.*error);
      rows += judged;
    }
  }
  return rows > 0 ? std::optional(sum / rows) : std::nullopt;
}

std::vector<std::string> row_of(const ForecastFile& file, std::span<const ForecastKind> kinds,
                                std::string engine, std::string what, std::size_t rows) {
  return {file.device,
          std::move(engine),
          std::to_string(rows),
          report::rounded_percent_text(mean_error(kinds, &ForecastSeries::median)),
          report::rounded_percent_text(mean_error(kinds, &ForecastSeries::p90)),
          std::move(what)};
}

}  // namespace

report::View forecasts_view(const std::string& device, const Folders& forecasts,
                            const Folders& devices, int width) {
  const bool shows_kinds = !device.empty();
  Folders folders = forecasts;
  std::string id;
  if (shows_kinds) {
    const Device known = known_device(device, devices);
    id = known.id;
    if (!known.folder.empty()) folders.insert(folders.begin(), known.folder);
  }
  const std::vector<ForecastFile> files = forecast_files(folders, id);
  if (shows_kinds && files.empty()) {
    throw refused("no forecast tables of " + id, {}, "without a device, all of them are listed");
  }
  report::TextTable table({"device", "engine", ">rows", ">error", ">p90", "kernels"});
  Json data = Json::array();
  for (const ForecastFile& file : files) {
    data.push_back(json_fields::written(file));
    std::string names;
    for (const ForecastKind& kind : file.kinds) {
      append_item(names, " ", kind.name);
      if (!shows_kinds) continue;
      table.add(row_of(file, {&kind, 1}, kind.engine + ' ' + kind.release, kind.name, kind.rows));
    }
    if (!shows_kinds) {
      table.add(row_of(file, file.kinds, file.engine + ' ' + file.release, names, file.rows));
    }
  }
  return {.data = {{"forecasts", std::move(data)}},
          .text = table.text(width) +
                  report::wrapped("error: of rows that the tables leave out, as the kept ones "
                                  "predict them, and of tables that leave out none of each row, "
                                  "as the others do: median and 90 % quantile",
                                  width)};
}

}  // namespace halmark::tune
