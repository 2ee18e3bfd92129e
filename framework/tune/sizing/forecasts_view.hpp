// What halmark forecasts lists: files of the manifest, or of one device each kind with its errors.
#pragma once

#include <string>

#include "report/views/view.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

// Of the known device, kind by kind; "" = of all. Throws Error (exit 2) for one without tables.
report::View forecasts_view(const std::string& device, const Folders& forecasts,
                            const Folders& devices, int width);

}  // namespace halmark::tune
