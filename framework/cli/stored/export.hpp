// What `export` and `tune` share: a chosen point written as an engine wants it.
#pragma once

#include "cli/console/command.hpp"
#include "export/request.hpp"

namespace halmark::cli {

void add_export_options(OptionSet& app, exports::ExportRequest& request);
// Before the work: throws what exported_point would throw of the options alone.
void check_export(const exports::ExportRequest& request);
// Of the points that the engine can run.
Pick chosen_point(const SearchedFront& front, const std::string& how,
                  const exports::ExportRequest& request);
report::View exported_point(const SearchedFront& front, const Pick& pick,
                            const exports::ExportRequest& request);

}  // namespace halmark::cli
