// Both sides of everything that the host takes from a plugin: what a kernel says of itself and its
// operands, how many values a parameter has, what a device is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <functional>
#include <numeric>

#include "host/plugin/plugin.hpp"
#include "host/process/contained_process.hpp"
#include "table_plugin.hpp"
#include "tests/scoped_environment.hpp"

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
  for (const int role : {HM_ROLE_INPUT, HM_ROLE_STATE}) {
    EXPECT_EQ(plugin.operand([&](hm_operand& o) { o.role = role; }), "accepted");
  }
  for (const int role : {HM_ROLE_INPUT - 1, HM_ROLE_STATE + 1}) {
    EXPECT_THAT(plugin.operand([&](hm_operand& o) { o.role = role; }),
                HasSubstr("operand 0 ('src') has the unknown role " + std::to_string(role)));
  }
  EXPECT_EQ(plugin.operand([](hm_operand& o) { o.rank = HM_RANK_MAX; }), "accepted");
  EXPECT_THAT(plugin.operand([](hm_operand& o) { o.rank = HM_RANK_MAX + 1; }),
              HasSubstr("has rank " + std::to_string(HM_RANK_MAX + 1)));
  EXPECT_THAT(plugin.operand([](hm_operand& o) { o.dtype = 999; }), HasSubstr("unknown dtype 999"));
  EXPECT_EQ(plugin.operand([](hm_operand& o) { o.dims[1] = 0; }), "accepted");
  EXPECT_THAT(plugin.operand([](hm_operand& o) { o.dims[1] = -1; }),
              HasSubstr("negative dimension"));
  for (const unsigned alignment : {0u, 1u, 2u, 4096u, 1u << 21}) {
    EXPECT_EQ(plugin.operand([&](hm_operand& o) { o.alignment = alignment; }), "accepted");
  }
  for (const unsigned alignment : {3u, 48u, 1u << 22}) {
    EXPECT_THAT(plugin.operand([&](hm_operand& o) { o.alignment = alignment; }),
                HasSubstr("wants an alignment of " + std::to_string(alignment)));
  }
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

std::string domain_of(std::int32_t kind, const std::vector<std::int64_t>& values,
                      std::int64_t fallback, std::vector<std::int64_t>* expanded = nullptr) {
  Answering plugin;
  hm_domain domain{};
  domain.struct_size = sizeof domain;
  domain.kind = static_cast<decltype(domain.kind)>(kind);
  domain.count = static_cast<std::uint32_t>(values.size());
  std::strcpy(domain.name, "d");
  domain.values = values.data();
  domain.default_value = fallback;
  table_plugin::domain = domain;
  const auto found = plugin.device.domains(0, {"copy", {}});
  if (found && expanded != nullptr) *expanded = (*found)[0].values;
  return found ? "accepted" : found.failure.message;
}

TEST(PluginDomain, ranges_have_three_numbers_and_4096_values_at_most) {
  std::vector<std::int64_t> values;
  EXPECT_EQ(domain_of(HM_DOMAIN_RANGE, {1, 4096, 1}, 1, &values), "accepted");
  EXPECT_EQ(values.size(), 4096u);
  EXPECT_EQ(values.back(), 4096);
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {1, 4097, 1}, 1), HasSubstr("4096+"));
  EXPECT_EQ(domain_of(HM_DOMAIN_RANGE, {-7, 5, 5}, 3, &values), "accepted");
  EXPECT_THAT(values, ElementsAre(-7, -2, 3));
  EXPECT_EQ(domain_of(HM_DOMAIN_RANGE, {5, 5, 1}, 5, &values), "accepted");
  EXPECT_THAT(values, ElementsAre(5));
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {5, 4, 1}, 5), HasSubstr("empty range"));
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {1, 4, 0}, 1), HasSubstr("empty range"));
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {1, 4, -1}, 1), HasSubstr("empty range"));
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {1, 4}, 1), HasSubstr("without {low, high, step}"));
  EXPECT_THAT(domain_of(HM_DOMAIN_RANGE, {1, 4, 1, 1}, 1), HasSubstr("without {low, high, step}"));
}

TEST(PluginDomain, powers_of_two_lie_between_powers_of_two) {
  std::vector<std::int64_t> values;
  EXPECT_EQ(domain_of(HM_DOMAIN_POW2, {1, 1}, 1, &values), "accepted");
  EXPECT_THAT(values, ElementsAre(1));
  EXPECT_EQ(domain_of(HM_DOMAIN_POW2, {1, std::int64_t{1} << 62}, 1, &values), "accepted");
  EXPECT_EQ(values.size(), 63u);
  for (const std::vector<std::int64_t>& bounds :
       {std::vector<std::int64_t>{3, 8}, {2, 9}, {8, 4}, {0, 4}, {-4, 4}}) {
    EXPECT_THAT(domain_of(HM_DOMAIN_POW2, bounds, 4), HasSubstr("no ascending powers of two"));
  }
  EXPECT_THAT(domain_of(HM_DOMAIN_POW2, {4}, 4), HasSubstr("pow2 without {low, high}"));
  EXPECT_THAT(domain_of(HM_DOMAIN_POW2, {4, 8, 1}, 4), HasSubstr("pow2 without {low, high}"));
}

TEST(PluginDomain, lists_have_4096_values_at_most) {
  std::vector<std::int64_t> many(4096);
  std::iota(many.begin(), many.end(), 1);
  EXPECT_EQ(domain_of(HM_DOMAIN_LIST, many, 4096), "accepted");
  many.push_back(4097);
  EXPECT_THAT(domain_of(HM_DOMAIN_LIST, many, 1), HasSubstr("4097 values; the limit is 4096"));
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

// Whatever stands before it in the caller's environment: allowed names and prefixes pass, and what
// the shard decides is not the caller's.
TEST(WorkerEnvironment, passes_what_is_allowed_and_sets_what_measuring_needs) {
  const test::ScopedVariable secret("AAA_SECRET", "x"), home("HOME", "/elsewhere"),
      stack("OMP_STACKSIZE", "9"), threads("OMP_NUM_THREADS", "99"),
      policy("OMP_WAIT_POLICY", "passive"), cache("POCL_CACHE_DIR", "/c"),
      preload("LD_PRELOAD_NOT", "evil.so"), script("HALMARK_FAKE_SCRIPT", "s"), last("ZZZ", "1");
  const Environment found =
      worker_environment({.cpus = {0, 1, 5}}, {{"NAMED", "n"}, {"HOME", "/other"}});
  EXPECT_FALSE(found.contains("AAA_SECRET"));
  EXPECT_FALSE(found.contains("LD_PRELOAD_NOT"));
  EXPECT_FALSE(found.contains("ZZZ"));
  EXPECT_EQ(found.at("HOME"), "/other") << "named ones come last";
  EXPECT_EQ(found.at("NAMED"), "n");
  EXPECT_EQ(found.at("OMP_STACKSIZE"), "9");
  EXPECT_EQ(found.at("POCL_CACHE_DIR"), "/c");
  EXPECT_EQ(found.at("HALMARK_FAKE_SCRIPT"), "s");
  EXPECT_EQ(found.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(found.at("POCL_MAX_PTHREAD_COUNT"), "3") << "a part of the CPU has so many threads";
  EXPECT_EQ(found.at("POCL_CPU_MAX_CU_COUNT"), "3");
  EXPECT_EQ(found.at("OMP_WAIT_POLICY"), "passive") << "the caller's wish";
}

TEST(WorkerEnvironment, has_what_measuring_needs_where_the_caller_says_nothing) {
  const test::ScopedVariable threads("OMP_NUM_THREADS"), policy("OMP_WAIT_POLICY"),
      spin("GOMP_SPINCOUNT"), bind("OMP_PROC_BIND"), dynamic("OMP_DYNAMIC");
  const Environment plain = worker_environment({}, {});
  EXPECT_EQ(plain.at("OMP_WAIT_POLICY"), "active");
  EXPECT_EQ(plain.at("GOMP_SPINCOUNT"), "300000");
  EXPECT_EQ(plain.at("OMP_PROC_BIND"), "close");
  EXPECT_EQ(plain.at("OMP_DYNAMIC"), "false");
  EXPECT_FALSE(plain.contains("OMP_NUM_THREADS"));
  EXPECT_TRUE(plain.contains("PATH"));
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
  EXPECT_FALSE(stream->can_hold());
  table.hold = [](hm_stream*, std::uint64_t, hm_error*) -> std::int32_t { return HM_OK; };
  EXPECT_FALSE(stream->can_hold());
  table.unhold = [](hm_stream*, hm_error*) -> std::int32_t { return HM_OK; };
  EXPECT_TRUE(stream->can_hold());
  table.hold = nullptr;
  EXPECT_FALSE(stream->can_hold());
}

}  // namespace
}  // namespace halmark
