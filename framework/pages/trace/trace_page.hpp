// What `halmark trace` prints of an attribution and of a comparison with a model.
#pragma once

#include <string>

#include "profile/comparison/model_comparison.hpp"
#include "report/views/view.hpp"

namespace halmark::pages {

// `width`: terminal columns. Unknown FLOPs are said to be unknown: a dash is for operators that
// have none.
std::string trace_text(const trace::Recording& recording, const trace::Attribution& attribution,
                       const trace::TraceView& view, int width);

struct ComparedPage {
  std::string model;  // as it was named
  double tolerance_pct = 0;
  bool has_workload = false;  // its sizes were given, not those that the passes show
  int width = 0;
};
// The key `comparison` of the document, and the text below the trace's own.
report::View comparison_view(const trace::ModelComparison& compared, const ComparedPage& page);

}  // namespace halmark::pages
