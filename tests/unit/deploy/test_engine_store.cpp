#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/engine_store.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::deploy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

EngineImport imported(const std::string& file, double step_ns, const std::string& utc) {
  return {.tool = "llama-bench",
          .file = file,
          .file_sha256 = std::string(64, 'a'),
          .imported_utc = utc,
          .steps = {{.engine = "llamacpp",
                     .engine_version = "b1",
                     .model = "m.gguf",
                     .model_id = "m",
                     .phase = "decode",
                     .batch = 1,
                     .output_tokens = 128,
                     .step_ns = step_ns,
                     .deviation_ns = 0.1,
                     .samples = 5,
                     .how = "mean"}}};
}

TEST(EngineStore, gives_back_what_was_kept_oldest_first) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  EXPECT_TRUE(stored_imports(database).empty());
  const EngineImport late = imported("late.json", 1.0 / 3, "2026-02-01T00:00:00Z");
  const EngineImport early = imported("early.json", 2, "2026-01-01T00:00:00Z");
  keep_import(database, late);
  keep_import(database, early);
  EXPECT_THAT(stored_imports(database), ElementsAre(early, late));
}

TEST(EngineStore, keeps_the_same_file_once) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  const std::string first = keep_import(database, imported("a", 1, "2026-01-01T00:00:00Z"));
  EXPECT_EQ(keep_import(database, imported("a", 1, "2026-01-02T00:00:00Z")), first);
  EXPECT_EQ(stored_imports(database).front().imported_utc, "2026-01-01T00:00:00Z");
  EXPECT_NE(keep_import(database, imported("a", 2, "2026-01-02T00:00:00Z")), first);
}

TEST(EngineStore, writes_files_that_people_can_read) {
  const test::ScratchFolder folder;
  const std::string path = keep_import(folder / "x.db", imported("a", 1, "2026-01-01T00:00:00Z"));
  EXPECT_THAT(path, testing::ContainsRegex("/x.db.engines/llama-bench-[0-9a-f]{12}.json$"));
  EXPECT_THAT(test::file_bytes(path), HasSubstr("\n \"import\": {\n  "));
}

TEST(EngineStore, a_figure_that_was_changed_by_hand_is_refused) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  const std::string path = keep_import(database, imported("a", 12345, "2026-01-01T00:00:00Z"));
  std::string text = test::file_bytes(path);
  text.replace(text.find("12345"), 5, "12344");
  test::write_file(path, text);
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("its steps are not those that were stored"));
  test::write_file(path, "{\"schema\": \"halmark.engine_steps\", \"version\": 1}");
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("cannot be read"));
  test::write_file(path, "{\"schema\": \"other\", \"version\": 1}");
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("move it out of the folder"));
}

}  // namespace
}  // namespace halmark::deploy
