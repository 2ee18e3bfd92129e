// Copies, settings, schemas, and what commands leave beside a database.
#include <filesystem>
#include <fstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Housekeeping : public HalmarkTest {};

TEST_F(Housekeeping, commands_leave_no_empty_file_beside_a_database) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  tune_tiny("r.db");
  write("served.toml", served_sweep);
  ASSERT_EQ(halmark({"tune", "served.toml", "--db", "r.db"}).exit_code, 0);
  halmark({"report", "--db", "r.db"});
  halmark({"study", "list", "--study", "sqlite:r.db.study"});
  EXPECT_TRUE(fs::exists(path("r.db"))) << "nothing was written";
  EXPECT_TRUE(fs::exists(path("r.db.study")));
  for (const auto& entry : fs::directory_iterator(path(""))) {
    if (!entry.path().filename().string().starts_with("r.db")) continue;
    EXPECT_NE(fs::file_size(entry.path()), 0u) << entry.path();
    EXPECT_THAT(entry.path().string(), Not(testing::EndsWith(".lock")));
  }
}

TEST_F(Housekeeping, a_backup_is_reported_from_like_the_database) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  tune_tiny("r.db");
  const Json data = data_of({"backup", "--db", "r.db", "--to", "kept"});
  ASSERT_EQ(data["files"].size(), 2u);
  const std::string copy = data["files"][0]["to"];
  EXPECT_EQ(halmark({"verify", copy}).exit_code, 0);
  EXPECT_EQ(data_of({"report", "--db", copy})["front"],
            data_of({"report", "--db", "r.db"})["front"]);
  EXPECT_EQ(halmark({"backup", "--db", "none.db"}).exit_code, 2);
}

TEST_F(Housekeeping, a_damaged_database_has_no_backup) {
  write("r.db", "SQLite format 3");
  const Outcome out = halmark({"backup", "--db", "r.db"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_TRUE(is_one_line(out.err));
  EXPECT_TRUE(!fs::exists(path("backups")) || fs::is_empty(path("backups")));
}

TEST_F(Housekeeping, settings_say_where_they_are_from) {
  const Outcome out = halmark({"config", "show", "--effective", "--db", "night.db"});
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("--db"));
  EXPECT_THAT(out.out, HasSubstr("XDG_STATE_HOME"));
  EXPECT_THAT(out.out, HasSubstr("HALMARK_PLUGIN_PATH"));
}

TEST_F(Housekeeping, a_device_file_of_the_user_is_found_below_xdg_config) {
  fs::create_directories(path("config/halmark/devices"));
  std::ifstream shipped(test::in_source("/configs/devices/t4.toml"));
  std::string text{std::istreambuf_iterator<char>(shipped), {}};
  const std::size_t id = text.find("id = \"");
  text.replace(id, text.find('\n', id) - id, "id = \"my-t4\"");
  const std::size_t aliases = text.find("\naliases");
  if (aliases != text.npos) text.erase(aliases, text.find('\n', aliases + 1) - aliases);
  write("config/halmark/devices/my-t4.toml", text);
  const Outcome out = halmark({"model", "qwen3-0.6b", "--device", "my-t4"});
  EXPECT_EQ(out.exit_code, 0) << out.err;
}

TEST_F(Housekeeping, schemas_are_json_and_pages) {
  const Json schema = data_of({"config", "schema", "sweep"});
  EXPECT_EQ(schema["properties"]["name"]["type"], "string");
  EXPECT_THAT(halmark({"config", "schema", "gate", "--markdown"}).out, HasSubstr("| steal |"));
  EXPECT_THAT(halmark({"config", "schema", "sweeep"}).err, HasSubstr("'sweep'"));
}

TEST_F(Housekeeping, the_page_of_the_envelope_has_every_key_of_one) {
  std::ifstream file(test::in_source("/results/schema/reference/envelope.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const Outcome out = halmark({"config", "schema", "nothing", "--json"});
  const Json envelope = envelope_of(out.out);
  for (const auto& [key, value] : envelope.items()) {
    EXPECT_THAT(page, HasSubstr("| `" + key + "` |"));
    if (!value.is_object()) continue;
    for (const auto& [inner, ignored] : value.items()) {
      EXPECT_THAT(page, HasSubstr('`' + inner + '`')) << key;
    }
  }
}

TEST_F(Housekeeping, a_night_has_a_backup_of_what_was_before_it) {
  tiny_sweep("fake", "shards = [1]");
  write("night.toml", read("tiny.toml") + "\n[nightly]\nminutes = 1\n");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;timer=device_event";
  const auto night = [](const char* date) {
    return Arguments{"tune", "night.toml", "--db", "r.db", "--night", date};
  };
  const Outcome first = undisturbed(night("2026-11-01"));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_FALSE(fs::exists(path("backups"))) << "there was nothing to copy";
  EXPECT_THAT(halmark(night("2026-11-02")).err, HasSubstr("backup: "));
  ASSERT_TRUE(fs::exists(path("backups")));
  for (const auto& entry : fs::directory_iterator(path("backups"))) {
    if (entry.path().string().find(".study.") != std::string::npos) continue;
    EXPECT_EQ(data_of({"history", "--list", "--db", entry.path().string()})["runs"].size(), 1u);
    break;
  }
}

}  // namespace
}  // namespace halmark::integration
