// The check of a front proof as text and as JSON, with what its verdict rests on.
#pragma once

#include <string>

#include "core/json/json_type.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark {

// `path`: of the proof, as the user typed it.
std::string front_proof_text(const FrontProofCheck& check, const std::string& path);
Json front_proof_json(const FrontProofCheck& check, const std::string& path);

}  // namespace halmark
