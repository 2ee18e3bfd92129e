// Options that `export` and `tune` share.
#pragma once

#include "cli/console/command.hpp"
#include "export/request.hpp"

namespace halmark::cli {

void add_export_options(OptionSet& app, exports::ExportRequest& request);

}  // namespace halmark::cli
