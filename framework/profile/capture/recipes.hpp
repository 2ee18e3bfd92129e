// How servers record the traces that `halmark trace` reads: their own flags, with the page that
// states them. None of these servers was run by this project; what is not documented is not here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_type.hpp"

namespace halmark {

struct CaptureStep {
  std::string versions;               // of the engine: "0.13.0 and later"
  std::vector<std::string> commands;  // of a shell, in order
  std::string source;                 // the page that documents them
};

struct CaptureRecipe {
  std::string engine;  // vllm, sglang, trtllm, torch
  std::string title;
  std::vector<CaptureStep> steps;  // newest version first
  std::vector<std::string> notes;  // what the trace then shows, and what it lacks
};

// Throws Error (exit 2) for an engine without a recipe.
const CaptureRecipe& capture_recipe(std::string_view engine);
const std::vector<CaptureRecipe>& capture_recipes();

Json recipe_json(const CaptureRecipe& recipe);
std::string recipe_text(const CaptureRecipe& recipe);

}  // namespace halmark
