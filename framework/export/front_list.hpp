// The points of a front by the numbers that they are asked for by, and the one that was picked.
#pragma once

#include "core/chosen/deployment.hpp"
#include "report/choice/pick.hpp"
#include "report/views/view.hpp"

namespace halmark::exports {

// One line per group of points that differ by less than `share` in every objective, or by less than
// can be told apart; the numbers of those that are left out stand behind it.
report::View front_list(const SearchedFront& front, double share);

// The picked point, why it was picked, and what it gives up.
report::View pick_view(const SearchedFront& front, const Pick& pick);

}  // namespace halmark::exports
