// The series of a database over its nights, for terminals, programs, pull requests and browsers.
#pragma once

#include <string>

#include "core/text/error.hpp"
#include "history/recorded.hpp"
#include "history/runs.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"fingerprint", "runs", "rules", "counts", "series"}, each series with its nights and changes;
// the text lists what is neither SAME nor too young, and every change that both detectors see.
report::View history_view(const NightReport& night);

// {"runs"}, one line each.
report::View runs_view(const std::vector<ListedRun>& runs);

std::string counts_text(const NightReport& night);  // "0 SLOWER, 0 FASTER, 1 UNDECIDED, ..."
std::string history_markdown(const NightReport& night);
// One self-contained page: a picture per series with its levels and changes, readable without
// script.
std::string history_html(const NightReport& night);

// By verdict_exit.
ExitCode history_exit(const NightReport& night, bool is_gate = false);

// By suffix: .json .md .html. Throws Error (exit 2) for another.
void write_history(const NightReport& night, const std::string& path);

}  // namespace halmark::history
