// A comparison for terminals, programs and pull requests.
#pragma once

#include <string>

#include "core/text/error.hpp"
#include "history/side.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"before", "after", "rules", "counts", "changes", "only_before", "only_after"}; the text lists
// what is not SAME. Keys in results/schema/history.md.
report::View comparison_view(const Comparison& comparison);

// A summary with one picture, which GitHub and GitLab draw from its Mermaid text.
std::string comparison_markdown(const Comparison& comparison);

// By verdict_exit.
ExitCode comparison_exit(const Comparison& comparison, bool is_gate = false);

// The document as .json or the Markdown as .md, by suffix. Throws Error (exit 2) for another.
void write_comparison(const Comparison& comparison, const std::string& path);

}  // namespace halmark::history
