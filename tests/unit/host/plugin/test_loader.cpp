#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "plugin_refusal.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using table_plugin::Tables;
using testing::HasSubstr;

std::string load_refusal(const std::string& path) {
  try {
    load_plugin(path);
    return "accepted";
  } catch (const PluginRefused& refused) {
    return refused.reason();
  }
}

TEST(Loader, a_complete_table_is_accepted_with_its_optional_groups_absent) {
  const Tables tables;
  const auto plugin = check_plugin(&tables.plugin, HM_ABI_VERSION);
  EXPECT_EQ(plugin.name, "table");
  EXPECT_EQ(plugin.probe, nullptr);
  EXPECT_EQ(plugin.comm, nullptr);
}

TEST(Loader, a_table_that_ends_before_probe_hides_the_garbage_behind_it) {
  Tables tables;
  tables.plugin.struct_size = offsetof(hm_plugin_api, probe);
  tables.plugin.probe = reinterpret_cast<const hm_probe_api*>(8);
  tables.plugin.comm = reinterpret_cast<const hm_comm_api*>(8);
  const auto plugin = check_plugin(&tables.plugin, HM_ABI_VERSION);
  EXPECT_EQ(plugin.probe, nullptr);
  EXPECT_EQ(plugin.comm, nullptr);
}

TEST(Loader, a_table_of_4_or_8_bytes_is_refused_without_reading_beyond) {
  Tables tables;
  tables.plugin.struct_size = 4;
  EXPECT_THAT(refusal_of(tables), HasSubstr("struct_size is 4"));
  tables.plugin.struct_size = 8;
  EXPECT_THAT(refusal_of(tables), HasSubstr("plugin.name"));
}

TEST(Loader, header_and_library_of_different_versions_are_refused) {
  const Tables tables;
  EXPECT_THAT(refusal_of(tables, HM_ABI_VERSION + 1), HasSubstr("do not belong together"));
}

TEST(Loader, reserved_fields_in_use_and_nameless_plugins_are_refused) {
  Tables nameless;
  nameless.plugin.name = "";
  EXPECT_THAT(refusal_of(nameless), HasSubstr("name is empty"));
}

TEST(Loader, a_real_library_loads_and_stays_loaded) {
  const auto plugin = load_plugin(test::in_build("/tests/plugins/hm_minimal.so"));
  EXPECT_EQ(plugin.name, "minimal");
  EXPECT_EQ(plugin.abi_version, HM_ABI_VERSION);
}

TEST(Loader, a_file_that_is_no_library_is_refused_with_the_loaders_words) {
  EXPECT_THAT(load_refusal("/nonexistent/hm_x.so"), HasSubstr("no such file"));
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("hm_text_" + std::to_string(::getpid()) + ".so");
  std::ofstream(path) << std::string(4096, 't');
  EXPECT_THAT(load_refusal(path.string()), HasSubstr("invalid ELF header"));
  std::filesystem::remove(path);
}

TEST(Loader, a_library_without_the_two_symbols_is_refused_by_symbol) {
  const char* libc = "/lib/x86_64-linux-gnu/libz.so.1";
  if (!std::filesystem::exists(libc)) GTEST_SKIP() << "no zlib at its Debian path";
  EXPECT_THAT(load_refusal(libc), HasSubstr("hm_abi_version"));
}

}  // namespace
}  // namespace halmark
