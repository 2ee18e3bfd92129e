// YAML for others to read: block style, every scalar such that it is read back as what it was.
#pragma once

#include <string>

#include "core/json/json_type.hpp"

namespace halmark::exports {

// Quoted where a plain scalar would be read as something else; a number stays one.
std::string yaml_scalar(const std::string& text);
// A document without its "---".
std::string yaml_text(const Json& value);

}  // namespace halmark::exports
