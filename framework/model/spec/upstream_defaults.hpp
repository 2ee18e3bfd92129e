// What the configuration class of a model type says of fields that a file leaves out.
#pragma once

#include <string_view>

namespace halmark {

// A JSON object of the defaults of one model_type, of the fields that decide which operators run
// and how large they are; fields that are absent, false or zero by default are left out. Empty for
// types whose class is not known.
std::string_view upstream_defaults(std::string_view model_type);

}  // namespace halmark
