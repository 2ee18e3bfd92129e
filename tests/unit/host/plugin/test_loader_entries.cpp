// Every required entry of the tables, and both sides of each length that the loader reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "plugin_refusal.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using table_plugin::Tables;
using testing::HasSubstr;

// A table with every entry of both optional groups.
struct Whole : Tables {
  hm_probe_api probe{};
  Whole() {
    probe.struct_size = sizeof probe;
    comm.token_create = table_plugin::ok;
    comm.create = table_plugin::ok;
    comm.destroy = [](hm_comm*) {};
    plugin.probe = &probe;
    plugin.comm = &comm;
  }
};

struct Entry {
  const char* name;
  void (*remove)(Tables&);
};

#define HALMARK_ENTRY(group, field)                                \
  {                                                                \
#group "." #field, [](Tables & t) { t.group.field = nullptr; } \
  }
constexpr Entry required[] = {
    HALMARK_ENTRY(plugin, name),         HALMARK_ENTRY(plugin, version),
    HALMARK_ENTRY(plugin, build),        HALMARK_ENTRY(plugin, create),
    HALMARK_ENTRY(plugin, destroy),      HALMARK_ENTRY(plugin, device),
    HALMARK_ENTRY(plugin, memory),       HALMARK_ENTRY(plugin, stream),
    HALMARK_ENTRY(plugin, kernel),       HALMARK_ENTRY(device, count),
    HALMARK_ENTRY(device, describe),     HALMARK_ENTRY(device, open),
    HALMARK_ENTRY(device, close),        HALMARK_ENTRY(memory, create),
    HALMARK_ENTRY(memory, destroy),      HALMARK_ENTRY(memory, write),
    HALMARK_ENTRY(memory, read),         HALMARK_ENTRY(stream, create),
    HALMARK_ENTRY(stream, destroy),      HALMARK_ENTRY(stream, wait),
    HALMARK_ENTRY(kernel, count),        HALMARK_ENTRY(kernel, describe),
    HALMARK_ENTRY(kernel, domain_count), HALMARK_ENTRY(kernel, domain),
    HALMARK_ENTRY(kernel, supports),     HALMARK_ENTRY(kernel, prepare),
    HALMARK_ENTRY(kernel, release),      HALMARK_ENTRY(kernel, info),
    HALMARK_ENTRY(kernel, operand),      HALMARK_ENTRY(kernel, enqueue),
    HALMARK_ENTRY(comm, token_create),   HALMARK_ENTRY(comm, create),
    HALMARK_ENTRY(comm, destroy),
};
#undef HALMARK_ENTRY

TEST(LoaderEntries, are_each_missed_by_name) {
  EXPECT_EQ(refusal_of(Whole()), "accepted");
  for (const Entry& entry : required) {
    Whole tables;
    entry.remove(tables);
    EXPECT_EQ(refusal_of(tables), "required entry " + std::string(entry.name) + " is NULL");
  }
}

TEST(LoaderEntries, end_where_the_last_required_one_does) {
  Whole tables;
  tables.kernel.struct_size = offsetof(hm_kernel_api, load_constants);
  tables.stream.struct_size = offsetof(hm_stream_api, event_create);
  tables.memory.struct_size = offsetof(hm_memory_api, fill);
  EXPECT_EQ(refusal_of(tables), "accepted");
  tables.memory.struct_size -= 1;
  EXPECT_THAT(refusal_of(tables), HasSubstr("ends before the required entry memory.read"));
  tables.device.struct_size = offsetof(hm_device_api, open);
  EXPECT_THAT(refusal_of(tables), HasSubstr("device.open"));
}

TEST(LoaderEntries, of_whole_groups_are_kept) {
  const Whole tables;
  const LoadedPlugin plugin = check_plugin(&tables.plugin, HM_ABI_VERSION);
  EXPECT_EQ(plugin.api, &tables.plugin);
  EXPECT_EQ(plugin.abi_version, HM_ABI_VERSION);
  EXPECT_EQ(plugin.version, "1");
  EXPECT_EQ(plugin.build, "test");
  EXPECT_EQ(plugin.probe, &tables.probe);
  EXPECT_EQ(plugin.comm, &tables.comm);
}

TEST(LoaderEntries, that_are_reserved_stay_unused_in_every_group) {
  constexpr Entry groups[] = {
      {"device", [](Tables& t) { t.device.reserved = 1; }},
      {"memory", [](Tables& t) { t.memory.reserved = 1; }},
      {"stream", [](Tables& t) { t.stream.reserved = 1; }},
      {"kernel", [](Tables& t) { t.kernel.reserved = 1; }},
      {"probe", [](Tables& t) { static_cast<Whole&>(t).probe.reserved = 1; }},
      {"comm", [](Tables& t) { t.comm.reserved = 1; }},
  };
  for (const Entry& group : groups) {
    Whole tables;
    group.remove(tables);
    EXPECT_EQ(refusal_of(tables), std::string(group.name) + ".reserved is not 0");
  }
  Whole shortest;
  shortest.probe = {.struct_size = 8, .reserved = 1};
  EXPECT_EQ(refusal_of(shortest), "probe.reserved is not 0");
  shortest.probe.struct_size = 7;
  EXPECT_EQ(refusal_of(shortest), "accepted") << "what lies behind the table is not read";
}

TEST(LoaderTexts, end_within_64_or_1024_bytes) {
  const std::string texts[] = {std::string(64, 'n'), std::string(65, 'n'), std::string(1024, 'b'),
                               std::string(1025, 'b')};
  Whole tables;
  tables.plugin.name = tables.plugin.version = texts[0].c_str();
  tables.plugin.build = texts[2].c_str();
  EXPECT_EQ(refusal_of(tables), "accepted");
  EXPECT_EQ(check_plugin(&tables.plugin, HM_ABI_VERSION).name, texts[0]);
  tables.plugin.build = texts[3].c_str();
  EXPECT_EQ(refusal_of(tables), "plugin.build is not terminated within 1024 bytes");
  tables.plugin.version = texts[1].c_str();
  EXPECT_EQ(refusal_of(tables), "plugin.version is not terminated within 64 bytes");
  tables.plugin.name = texts[1].c_str();
  EXPECT_EQ(refusal_of(tables), "plugin.name is not terminated within 64 bytes");
}

TEST(LoaderVersion, is_shown_as_major_and_minor) {
  const Whole tables;
  EXPECT_THAT(refusal_of(tables, (3u << 16) | 7u),
              HasSubstr("hm_abi_version says 3.7 but the table says 1.0"));
  try {
    load_plugin(test::in_build("/tests/plugins/bad/bad_wrong_major.so"));
    ADD_FAILURE() << "accepted";
  } catch (const PluginRefused& refused) {
    EXPECT_EQ(refused.reason(),
              "plugin speaks ABI 99.0, this host speaks 1.0: build the plugin against ABI 1.x");
  }
}

TEST(LoaderTable, that_is_not_there_is_refused) {
  EXPECT_THROW(check_plugin(nullptr, HM_ABI_VERSION), PluginRefused);
}

TEST(LoaderPath, is_absolute_whatever_was_given) {
  const std::filesystem::path exact = test::in_build("/tests/plugins/hm_minimal.so");
  EXPECT_EQ(load_plugin(exact.string()).path, exact.string());
  const auto relative = std::filesystem::relative(exact);
  EXPECT_TRUE(std::filesystem::path(load_plugin(relative.string()).path).is_absolute());
}

}  // namespace
}  // namespace halmark
