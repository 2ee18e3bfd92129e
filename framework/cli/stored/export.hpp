// What `export` and `tune` share: a chosen point written as an engine wants it.
#pragma once

#include "cli/console/command.hpp"
#include "core/chosen/deployment.hpp"
#include "report/choice/pick.hpp"

namespace halmark::cli {

struct ExportOptions {
  std::string as, server_version, checkpoint, out;
};
void add_export_options(OptionSet& app, ExportOptions& options);

CommandResult exported_point(const SearchedFront& front, const Pick& pick,
                             const ExportOptions& options);

}  // namespace halmark::cli
