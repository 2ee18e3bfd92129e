// A configuration of last resort: of a checkpoint without one that is read, every matrix of the
// header is a linear that every token meets, routed experts as many of them as a token takes.
#pragma once

#include <string>

#include "core/json/json_type.hpp"

namespace halmark {

struct WeightsHeader;

// What read_model takes. `config`: the configuration that is not read, whose heads and experts per
// token still count; null where there is none. `why`: what is said of it.
Json weights_document(const WeightsHeader& header, const Json& config, const std::string& why);

}  // namespace halmark
