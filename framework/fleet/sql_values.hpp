// Values of ours as the server takes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json.hpp"

// Texts of a JSON array, given as a parameter, as an array of the server.
#define HALMARK_TEXTS(parameter) "ARRAY(SELECT jsonb_array_elements_text(" parameter "::jsonb))"

namespace halmark::fleet {

inline std::string json_of(const std::vector<std::string>& texts) { return dump_json(Json(texts)); }
inline std::string json_of(const std::map<std::string, std::string>& texts) {
  return dump_json(Json(texts));
}

}  // namespace halmark::fleet
