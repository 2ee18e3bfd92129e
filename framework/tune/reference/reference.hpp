// Reference pages, written from the tables that the code itself uses.
#pragma once

#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace halmark::tune {

// Files by their kind, then expression, gate and glossary.
std::vector<std::string> reference_names();

// Of a file its JSON Schema. Both throw Error (exit 2) with the nearest name.
Json reference_json(const std::string& name);
std::string reference_markdown(const std::string& name);

}  // namespace halmark::tune
