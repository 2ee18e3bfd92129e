// What halmark forecasts lists: files of the manifest, or of one device each kind with its errors.
#pragma once

#include <span>
#include <string>

#include "latency/forecast/forecast_files.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/view.hpp"

namespace halmark::tune {

report::View forecasts_view(std::span<const ForecastFile> files, bool shows_kinds,
                            int width = report::unlimited_width);

}  // namespace halmark::tune
