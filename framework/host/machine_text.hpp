// This machine in lines, as reports and the results database keep them.
#pragma once

#include <string>
#include <vector>

#include "host/machine.hpp"

namespace halmark {

// `cores`: of one shard; `rows_fingerprint`: of what is measured, where that is a device of a
// plugin.
std::vector<std::string> property_lines(const Machine& machine, int cores,
                                        const std::string& rows_fingerprint);

}  // namespace halmark
