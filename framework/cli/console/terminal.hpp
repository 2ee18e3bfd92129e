// The terminal as the global options want it.
#pragma once

#include <string>

#include "cli/console/command.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"

namespace halmark::cli {

using report::says_lost_output, report::stdout_columns, report::TextTable, report::write_stderr,
    report::write_stdout;

// --color, else what stdout wants.
inline bool use_color(const GlobalOptions& options) {
  if (options.color != "auto") return options.color == "always";
  return report::stdout_wants_color();
}

class Progress : public report::Progress {
 public:
  Progress(const GlobalOptions& options, std::string title)
      : report::Progress(mode_of(options), std::move(title)) {}

 private:
  static report::ProgressMode mode_of(const GlobalOptions& options) {
    if (options.quiet || options.progress == "never") return report::ProgressMode::never;
    return options.progress == "json" ? report::ProgressMode::json
                                      : report::ProgressMode::automatic;
  }
};

}  // namespace halmark::cli
