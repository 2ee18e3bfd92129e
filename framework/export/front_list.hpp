// The points of a stored front by the numbers that they are asked for by.
#pragma once

#include "core/chosen/deployment.hpp"
#include "report/views/view.hpp"

namespace halmark::exports {

report::View front_list(const SearchedFront& front);

}  // namespace halmark::exports
