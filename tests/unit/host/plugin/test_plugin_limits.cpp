// Both sides of everything that the host takes from a plugin: what a kernel says of itself and its
// operands, how many values a parameter has, what a device is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <functional>
#include <numeric>

#include "host/plugin/plugin.hpp"
#include "table_plugin.hpp"

namespace halmark {
namespace {

using table_plugin::Tables;
using testing::ElementsAre;
using testing::HasSubstr;

// What the table answers; set by each test.
std::function<void(hm_prepared_info&)> say_info;
std::function<void(hm_operand&)> say_operand;
std::function<void(hm_device_info&)> say_device;

struct Answering {
  Tables tables;
  std::unique_ptr<PluginInstance> instance;
  OpenDevice device;
  Answering() {
    say_info = [](hm_prepared_info&) {};
    say_operand = [](hm_operand&) {};
    say_device = [](hm_device_info&) {};
    tables.device.describe = [](hm_plugin* p, std::uint32_t i, hm_device_info* info, hm_error* e) {
      const std::int32_t status = table_plugin::device_describe(p, i, info, e);
      say_device(*info);
      return status;
    };
    tables.kernel.prepare = [](hm_device*, std::uint32_t, const hm_problem*, const hm_config*,
                               hm_comm*, hm_prepared** out, hm_error*) -> std::int32_t {
      *out = reinterpret_cast<hm_prepared*>(&table_plugin::status);
      return HM_OK;
    };
    tables.kernel.info = [](hm_prepared*, hm_prepared_info* info, hm_error*) -> std::int32_t {
      std::strcpy(info->implementation, "name");
      info->operand_count = 2;
      say_info(*info);
      return HM_OK;
    };
    tables.kernel.operand = [](hm_prepared*, std::uint32_t, hm_operand* o,
                               hm_error*) -> std::int32_t {
      std::strcpy(o->name, "src");
      std::strcpy(o->layout, "nchw");
      o->role = HM_ROLE_INPUT;
      o->dtype = static_cast<std::int32_t>(Dtype::f32);
      o->rank = 2;
      o->dims[0] = 3;
      o->dims[1] = 5;
      o->strides[0] = 5;
      o->strides[1] = 1;
      o->bytes = 60;
      o->alignment = 64;
      say_operand(*o);
      return HM_OK;
    };
    auto made = PluginInstance::create(check_plugin(&tables.plugin, HM_ABI_VERSION), "");
    instance = std::move(*made);
    device = std::move(*instance->open(0, {}));
  }
  ~Answering() { device = OpenDevice(); }
  PreparedKernel prepared() { return std::move(*device.prepare(0, {"copy", {}}, nullptr)); }
  std::string operand(std::function<void(hm_operand&)> say) {
    say_operand = std::move(say);
    PreparedKernel kernel = prepared();
    const auto found = kernel.operand(0);
    return found ? "accepted" : found.failure.message;
  }
  std::string info(std::function<void(hm_prepared_info&)> say) {
    say_info = std::move(say);
    PreparedKernel kernel = prepared();
    const auto found = kernel.info();
    return found ? "accepted" : found.failure.message;
  }
};

TEST(PluginOperand, comes_with_everything_that_it_says) {
  Answering plugin;
  PreparedKernel kernel = plugin.prepared();
  const auto o = kernel.operand(0);
  ASSERT_TRUE(o) << o.failure.message;
  EXPECT_EQ(o->name, "src");
  EXPECT_EQ(o->layout, "nchw");
  EXPECT_EQ(o->role, HM_ROLE_INPUT);
  EXPECT_EQ(o->dtype, Dtype::f32);
  EXPECT_EQ(o->bytes, 60u);
  EXPECT_EQ(o->alignment, 64u);
  EXPECT_THAT(o->dims, ElementsAre(3, 5));
  EXPECT_THAT(o->strides, ElementsAre(5, 1));
  EXPECT_FALSE(o->is_opaque());
  say_operand = [](hm_operand& raw) { raw.strides[0] = raw.strides[1] = 0; };
  EXPECT_TRUE(kernel.operand(0)->is_opaque());
  say_operand = [](hm_operand& raw) { raw.strides[0] = 0; };
  EXPECT_FALSE(kernel.operand(0)->is_opaque());
  say_operand = [](hm_operand& raw) { raw.alignment = 0; };
  EXPECT_EQ(kernel.operand(0)->alignment, 1u) << "none is any address";
  say_operand = [](hm_operand& raw) { raw.rank = 0; };
  EXPECT_FALSE(kernel.operand(0)->is_opaque()) << "a scalar has no strides";
}

TEST(PluginOperand, of_no_possible_kind_is_refused_by_name) {
  Answering plugin;
  const auto expect = [&](auto hm_operand::*field, auto given, const std::string& refused = "") {
    const auto value = static_cast<std::remove_reference_t<decltype(hm_operand().*field)>>(given);
    const std::string said = plugin.operand([&](hm_operand& o) { o.*field = value; });
    EXPECT_THAT(said, HasSubstr(refused.empty() ? "accepted" : refused + std::to_string(given)));
  };
  for (const int role : {HM_ROLE_INPUT, HM_ROLE_STATE}) expect(&hm_operand::role, role);
  for (const int role : {HM_ROLE_INPUT - 1, HM_ROLE_STATE + 1}) {
    expect(&hm_operand::role, role, "operand 0 ('src') has the unknown role ");
  }
  expect(&hm_operand::rank, HM_RANK_MAX + 0);
  expect(&hm_operand::rank, HM_RANK_MAX + 1, "has rank ");
  expect(&hm_operand::dtype, 999, "unknown dtype ");
  for (const unsigned good : {0u, 1u, 2u, 4096u, 1u << 21}) expect(&hm_operand::alignment, good);
  for (const unsigned bad : {3u, 48u, 1u << 22}) {
    expect(&hm_operand::alignment, bad, "wants an alignment of ");
  }
  EXPECT_EQ(plugin.operand([](hm_operand& o) { o.dims[1] = 0; }), "accepted");
  EXPECT_THAT(plugin.operand([](hm_operand& o) { o.dims[1] = -1; }),
              HasSubstr("negative dimension"));
}

TEST(PluginInfo, names_an_implementation_and_has_one_to_sixty_four_operands) {
  Answering plugin;
  for (const unsigned count : {1u, 64u}) {
    EXPECT_EQ(plugin.info([&](hm_prepared_info& i) { i.operand_count = count; }), "accepted");
  }
  for (const unsigned count : {0u, 65u}) {
    EXPECT_THAT(plugin.info([&](hm_prepared_info& i) { i.operand_count = count; }),
                HasSubstr("claims " + std::to_string(count) + " operands"));
  }
  EXPECT_THAT(plugin.info([](hm_prepared_info& i) { i.implementation[0] = 0; }),
              HasSubstr("names no implementation"));
  say_info = [](hm_prepared_info& i) {
    std::strcpy(i.isa, "isa");
    std::strcpy(i.library, "library");
    std::strcpy(i.library_version, "1.2");
    i.flags = 5;
    i.launches_per_execution = 3;
    i.workspace_bytes = 7;
    i.constant_bytes = 9;
  };
  PreparedKernel kernel = plugin.prepared();
  const auto info = kernel.info();
  ASSERT_TRUE(info);
  EXPECT_EQ(info->implementation.name, "name");
  EXPECT_EQ(info->implementation.isa, "isa");
  EXPECT_EQ(info->flags, 5u);
  EXPECT_EQ(info->operand_count, 2u);
  EXPECT_EQ(info->launches_per_execution, 3u);
  EXPECT_EQ(info->workspace_bytes, 7u);
  EXPECT_EQ(info->constant_bytes, 9u);
}

struct Stated {
  std::int32_t kind;
  std::vector<std::int64_t> values;
  std::int64_t fallback;
  const char* said;
  std::vector<std::int64_t> expanded = {};
  void (*change)(hm_domain&) = nullptr;
};

TEST(PluginDomain, is_expanded_or_refused_by_name) {
  std::vector<std::int64_t> most(4096), powers;
  std::iota(most.begin(), most.end(), 1);
  auto more = most;
  more.push_back(4097);
  for (int i = 0; i < 63; ++i) powers.push_back(std::int64_t{1} << i);
  static const char *labels[] = {"jit", "ref"}, *same[] = {"same", "same"};
  constexpr const char *yes = "accepted", *no_range = "'d' is an empty range",
                       *of_three = "without {low, high, step}",
                       *no_powers = "no ascending powers of two",
                       *of_two = "pow2 without {low, high}";
  const Stated cases[] = {
      {HM_DOMAIN_RANGE, {1, 4096, 1}, 1, yes, most},
      {HM_DOMAIN_RANGE, {1, 4097, 1}, 1, "4096+"},
      {HM_DOMAIN_RANGE, {INT64_MIN, INT64_MAX, 1}, 1, "4096"},
      {HM_DOMAIN_RANGE, {2, 11, 3}, 5, yes, {2, 5, 8, 11}},
      {HM_DOMAIN_RANGE, {-7, 5, 5}, 3, yes, {-7, -2, 3}},
      {HM_DOMAIN_RANGE, {5, 5, 1}, 5, yes, {5}},
      {HM_DOMAIN_RANGE, {1, 2, 1}, 1, yes, {1, 2}},
      {HM_DOMAIN_RANGE, {5, 4, 1}, 5, no_range},
      {HM_DOMAIN_RANGE, {1, 2, 0}, 1, no_range},
      {HM_DOMAIN_RANGE, {1, 2, -1}, 1, no_range},
      {HM_DOMAIN_RANGE, {1, 4}, 1, of_three},
      {HM_DOMAIN_RANGE, {1, 4, 1, 1}, 1, of_three},
      {HM_DOMAIN_POW2, {1, 1}, 1, yes, {1}},
      {HM_DOMAIN_POW2, {4, 32}, 8, yes, {4, 8, 16, 32}},
      {HM_DOMAIN_POW2, {1, std::int64_t{1} << 62}, 1, yes, powers},
      {HM_DOMAIN_POW2, {3, 8}, 4, no_powers},
      {HM_DOMAIN_POW2, {2, 9}, 4, no_powers},
      {HM_DOMAIN_POW2, {8, 4}, 4, no_powers},
      {HM_DOMAIN_POW2, {0, 4}, 4, no_powers},
      {HM_DOMAIN_POW2, {-4, 4}, 4, no_powers},
      {HM_DOMAIN_POW2, {4}, 4, of_two},
      {HM_DOMAIN_POW2, {4, 8, 1}, 4, of_two},
      {HM_DOMAIN_LIST, most, 4096, yes, most},
      {HM_DOMAIN_LIST, more, 1, "4097 values; the limit is 4096"},
      {HM_DOMAIN_LIST, {1, 2}, 2, yes, {1, 2}},
      {HM_DOMAIN_LIST, {1, 2}, 1, "'d' is empty", {}, [](hm_domain& d) { d.count = 0; }},
      {HM_DOMAIN_LIST, {1, 2}, 1, "is empty", {}, [](hm_domain& d) { d.values = nullptr; }},
      {HM_DOMAIN_LIST, {1, 2}, 1, "4096", {}, [](hm_domain& d) { d.count = 1'000'000; }},
      {HM_DOMAIN_LIST, {1, 2}, 9, "default"},
      {HM_DOMAIN_LIST, {1, 1}, 1, "twice"},
      {HM_DOMAIN_LIST, {1, 2}, 1, "'same' twice", {}, [](hm_domain& d) { d.labels = same; }},
      {HM_DOMAIN_LIST,
       {1, 2},
       1,
       "without labels",
       {},
       [](hm_domain& d) { d.flags = HM_DOMAIN_CATEGORICAL; }},
      {77, {1, 2}, 1, "unknown kind 77"}};
  for (const Stated& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.values));
    Answering plugin;
    hm_domain& d = table_plugin::domain = {};
    d.struct_size = sizeof d;
    d.kind = static_cast<decltype(d.kind)>(c.kind);
    d.count = static_cast<std::uint32_t>(c.values.size());
    std::strcpy(d.name, "d");
    d.values = c.values.data();
    d.default_value = c.fallback;
    if (c.change != nullptr) c.change(d);
    const auto found = plugin.device.domains(0, {"copy", {}});
    EXPECT_THAT(found ? yes : found.failure.message, HasSubstr(c.said));
    if (!found) continue;
    EXPECT_EQ((*found)[0].values, c.expanded);
    d.flags = HM_DOMAIN_CATEGORICAL;
    d.labels = labels;
    if (d.count == 2 && d.kind == HM_DOMAIN_LIST) {
      EXPECT_THAT(plugin.device.domains(0, {"copy", {}})->at(0).labels, ElementsAre("jit", "ref"));
    }
  }
}

TEST(PluginDevice, has_one_of_the_kinds_that_there_are) {
  const std::pair<std::int32_t, const char*> kinds[] = {{HM_DEVICE_CPU, "cpu"},
                                                        {HM_DEVICE_GPU, "gpu"},
                                                        {HM_DEVICE_NPU, "npu"},
                                                        {HM_DEVICE_QPU_SIMULATOR, "qpu_simulator"},
                                                        {HM_DEVICE_OTHER, "other"}};
  Answering plugin;
  for (const auto& [kind, name] : kinds) {
    say_device = [kind = kind](hm_device_info& info) { info.kind = kind; };
    const auto description = plugin.instance->describe();
    ASSERT_TRUE(description) << description.failure.message;
    EXPECT_EQ(description->devices.at(0).kind, name);
  }
  say_device = [](hm_device_info& info) { info.kind = 77; };
  EXPECT_FALSE(plugin.instance->describe());
}

TEST(PluginStream, is_held_only_where_it_can_also_be_let_go) {
  Answering plugin;
  hm_stream_api& table = plugin.tables.stream;
  table.create = [](hm_device*, hm_stream** out, hm_error*) -> std::int32_t {
    *out = reinterpret_cast<hm_stream*>(&table_plugin::status);
    return HM_OK;
  };
  const auto stream = plugin.device.create_stream();
  ASSERT_TRUE(stream);
  for (const bool holds : {false, true}) {
    for (const bool lets_go : {false, true}) {
      table.hold = nullptr;
      table.unhold = nullptr;
      if (holds) table.hold = table_plugin::ok;
      if (lets_go) table.unhold = table_plugin::ok;
      EXPECT_EQ(stream->can_hold(), holds && lets_go);
    }
  }
}

}  // namespace
}  // namespace halmark
