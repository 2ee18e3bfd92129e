// Recipes name what a trace needs, and where the flags are documented.
#include "core/json/json.hpp"
#include "profile/capture/recipes.hpp"
#include "tests/unit/expect.hpp"

#include <gmock/gmock.h>

namespace halmark {
namespace {

using testing::HasSubstr;

TEST(CaptureRecipe, every_step_has_commands_versions_and_a_page_that_documents_them) {
  for (const CaptureRecipe& recipe : capture_recipes()) {
    ASSERT_FALSE(recipe.steps.empty()) << recipe.engine;
    for (const CaptureStep& step : recipe.steps) {
      EXPECT_FALSE(step.commands.empty()) << recipe.engine;
      EXPECT_FALSE(step.versions.empty()) << recipe.engine;
      EXPECT_THAT(step.source, testing::StartsWith("https://")) << recipe.engine;
    }
    EXPECT_THAT(recipe_text(recipe), HasSubstr("halmark trace FILE --compare MODEL"));
  }
}

// What `halmark trace` reads: shapes for FLOPs, stacks for modules. The words are the engines' own.
TEST(CaptureRecipe, shapes_and_stacks_are_spoken_of) {
  EXPECT_THAT(recipe_text(capture_recipe("vllm")),
              testing::AllOf(HasSubstr("\"torch_profiler_record_shapes\": true"),
                             HasSubstr("torch_profiler_with_stack"), HasSubstr("/start_profile"),
                             HasSubstr("VLLM_TORCH_PROFILER_DIR")));
  EXPECT_THAT(recipe_text(capture_recipe("sglang")),
              testing::AllOf(HasSubstr("SGLANG_TORCH_PROFILER_DIR"),
                             HasSubstr("SGLANG_PROFILE_WITH_STACK=True"),
                             HasSubstr("--disable-cuda-graph"), HasSubstr("\"num_steps\"")));
  EXPECT_THAT(recipe_text(capture_recipe("trtllm")),
              testing::AllOf(HasSubstr("TLLM_PROFILE_START_STOP"),
                             HasSubstr("TLLM_TORCH_PROFILE_TRACE"), HasSubstr("no stacks")));
}

TEST(CaptureRecipe, the_document_has_the_commands_of_the_text) {
  const CaptureRecipe& recipe = capture_recipe("vllm");
  const Json data = recipe_json(recipe);
  EXPECT_EQ(data["engine"], "vllm");
  EXPECT_EQ(data["steps"].size(), recipe.steps.size());
  for (const Json& step : data["steps"]) {
    for (const Json& command : step["commands"]) {
      EXPECT_THAT(recipe_text(recipe), HasSubstr(command.get<std::string>()));
    }
  }
}

TEST(CaptureRecipe, an_unknown_engine_names_the_nearest) {
  test::expect_error([] { capture_recipe("vlm"); }, "'vllm'", ExitCode::refused);
}

}  // namespace
}  // namespace halmark
