// The type of a JSON value for headers that only name it: the library itself takes a second to
// compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace halmark {

using Json = nlohmann::ordered_json;

}  // namespace halmark
