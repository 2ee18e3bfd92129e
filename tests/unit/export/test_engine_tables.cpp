#include <gmock/gmock.h>

#include <algorithm>

#include "export/engine/engine_table.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

TEST(EngineTables, every_shipped_table_is_read_and_is_of_its_folder_and_file) {
  int tables = 0;
  for (const std::string& engine : engine_names()) {
    for (const std::string& version : engine_versions(engine, test::engine_folders())) {
      const EngineTable table = read_engine_table(engine, version, test::engine_folders());
      EXPECT_EQ(table.engine, engine);
      EXPECT_EQ(table.version, version);
      EXPECT_FALSE(table.source.empty());
      EXPECT_GE(table.flags.size(), 10u) << table.name();
      ++tables;
    }
  }
  EXPECT_GE(tables, 20);
}

TEST(EngineTables, versions_stand_in_the_order_of_their_numbers) {
  const std::vector<std::string> vllm = engine_versions("vllm", test::engine_folders());
  EXPECT_LT(std::ranges::find(vllm, "0.20.1"), std::ranges::find(vllm, "0.24.0"));
  const std::vector<std::string> sglang = engine_versions("sglang", test::engine_folders());
  EXPECT_LT(std::ranges::find(sglang, "0.5.9"), std::ranges::find(sglang, "0.5.10.post1"));
}

TEST(EngineTables, the_latest_is_taken_where_none_is_stated) {
  EXPECT_EQ(read_engine_table("vllm", "", test::engine_folders()).version,
            engine_versions("vllm", test::engine_folders()).back());
  EXPECT_EQ(read_engine_table("vllm", "latest", test::engine_folders()).version,
            read_engine_table("vllm", "", test::engine_folders()).version);
}

TEST(EngineTables, an_unknown_version_is_refused_with_the_known_ones) {
  for (const char* version : {"9.9", "../sglang/0.5.9"}) {
    test::expect_error([&] { read_engine_table("vllm", version, test::engine_folders()); },
                       "known: 0.10.2, 0.11.0", ExitCode::refused);
  }
}

// The parsers of the releases: fp8 caches have other words, and one engine knows nodes from 0.12
// on.
TEST(EngineTables, choices_and_flags_are_those_of_the_release) {
  const EngineTable old = read_engine_table("vllm", "0.10.2", test::engine_folders());
  const EngineTable now = read_engine_table("vllm", "0.24.0", test::engine_folders());
  EXPECT_TRUE(old.allows("--kv-cache-dtype", "fp8_e4m3"));
  EXPECT_FALSE(old.allows("--kv-cache-dtype", "bfloat16"));
  EXPECT_TRUE(now.allows("--kv-cache-dtype", "bfloat16"));
  EXPECT_FALSE(old.has("--nnodes"));
  EXPECT_TRUE(now.has("--nnodes"));
}

}  // namespace
}  // namespace halmark::exports
