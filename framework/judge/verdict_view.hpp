// The answer as text and as a document; the rows of the asked problems as bench shows them.
#pragma once

#include "judge/verdict.hpp"
#include "report/views/view.hpp"

namespace halmark::judge {

report::View verdict_view(const Verdict& verdict, const Judged& judged);

}  // namespace halmark::judge
