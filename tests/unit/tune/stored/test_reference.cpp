// The pages of results/schema/reference are what the program writes now.
#include "tests/unit/expect.hpp"
#include "tune/reference/reference.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "measure/campaign/gate/validity.hpp"
#include "report/glossary.hpp"
#include "simulate/fabric/fabric_schema.hpp"
#include "tests/checkout.hpp"

namespace halmark::tune {
namespace {

const std::filesystem::path pages =
    std::filesystem::path(halmark::test::in_source()) / "results/schema/reference";

TEST(Reference, no_page_is_stale) {
  for (const std::string& name : reference_names()) {
    std::ifstream file(pages / (name + ".md"));
    const std::string stored{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(stored, reference_markdown(name))
        << "write it again: halmark config schema " << name
        << " --markdown > results/schema/reference/" << name << ".md";
  }
}

TEST(Reference, there_is_no_page_of_something_else) {
  std::set<std::string> known = {"README.md", "commands.md", "envelope.md"};
  for (const std::string& name : reference_names()) known.insert(name + ".md");
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(Reference, an_unknown_one_names_the_nearest) {
  halmark::test::expect_error([] { reference_json("sweeps"); }, "'sweep'", ExitCode::refused);
}

TEST(Reference, every_key_of_a_fabric_has_a_meaning_and_every_meaning_a_key) {
  const FileSchema schema = fabric::fabric_schema();
  std::set<std::string_view> used;
  for (const auto& [path, key] : schema.keys) {
    EXPECT_FALSE(meaning_of(schema, path).empty()) << path;
    used.insert(meaning_of(schema, path));
  }
  for (const KeyMeaning& meaning : schema.meanings) {
    EXPECT_TRUE(used.contains(meaning.text)) << meaning.key;
  }
  EXPECT_GT(schema.keys.size(), 50u);
}

}  // namespace
}  // namespace halmark::tune
