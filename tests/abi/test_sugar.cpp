// The sugar's own promises: nothing thrown passes guard, texts end, tables hold what a class has.
#include <gtest/gtest.h>
#include <halmark_plugin.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/dtype.hpp"

namespace {

using namespace halmark::plugin;

hm_error fresh_error() {
  hm_error error{};
  error.struct_size = sizeof error;
  return error;
}

TEST(Guard, maps_each_kind_of_exception_to_its_code) {
  hm_error error = fresh_error();
  EXPECT_EQ(guard(&error, [] {}), HM_OK);
  EXPECT_EQ(error.code, 0);
  EXPECT_EQ(guard(&error, [] { throw failure(HM_COMPILE_FAILED, "no such tile", -42); }),
            HM_COMPILE_FAILED);
  EXPECT_EQ(error.code, HM_COMPILE_FAILED);
  EXPECT_EQ(error.vendor_code, -42);
  EXPECT_STREQ(error.message, "no such tile");
  EXPECT_EQ(guard(&error, [] { throw std::bad_alloc(); }), HM_OUT_OF_MEMORY);
  EXPECT_EQ(guard(&error, [] { throw std::range_error("too far"); }), HM_INTERNAL);
  EXPECT_STREQ(error.message, "too far");
  EXPECT_EQ(guard(&error, [] { throw 7; }), HM_INTERNAL);
  EXPECT_EQ(guard(&error, [] { throw failure(HM_OK, "a failure is never ok"); }), HM_INTERNAL);
}

TEST(Guard, survives_a_host_without_an_error_and_a_message_without_end) {
  EXPECT_EQ(guard(nullptr, [] { throw std::runtime_error("nobody listens"); }), HM_INTERNAL);
  hm_error error = fresh_error();
  EXPECT_EQ(guard(&error, [] { throw failure(HM_UNSUPPORTED, std::string(5000, 'x')); }),
            HM_UNSUPPORTED);
  EXPECT_EQ(std::strlen(error.message), sizeof error.message - 1);
}

TEST(CopyText, ends_and_never_cuts_a_character) {
  char small[5];
  copy_text(small, "abc");
  EXPECT_STREQ(small, "abc");
  copy_text(small, "abcdefgh");
  EXPECT_STREQ(small, "abcd");
  copy_text(small, "abc\xc3\xa9");  // e acute takes bytes 4 and 5: it does not fit
  EXPECT_STREQ(small, "abc");
  copy_text(small, "");
  EXPECT_STREQ(small, "");
}

TEST(GrowSafeWrite, stops_where_the_hosts_struct_ends) {
  hm_clocks clocks{};
  clocks.struct_size = static_cast<std::uint32_t>(HM_FIELD_END(&clocks, core_hz));
  clocks.power_w = -1;
  hm_clocks value{};
  value.core_hz = 3e9;
  value.power_w = 80;
  grow_safe_write(&clocks, value);
  EXPECT_EQ(clocks.core_hz, 3e9);
  EXPECT_EQ(clocks.power_w, -1);
  EXPECT_EQ(clocks.struct_size, HM_FIELD_END(&clocks, core_hz));
}

TEST(Params, a_null_config_reads_as_empty_and_missing_names_are_told) {
  const Params none(static_cast<const hm_config*>(nullptr));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(param_or(none, "block", 32), 32);
  const hm_param values[] = {{"k", 5}, {"m", 0}};
  const hm_problem problem{sizeof(hm_problem), 2, "gemm", values};
  EXPECT_EQ(require_param(problem, "k"), 5);
  EXPECT_EQ(param_or(problem, "m", 9), 0);
  EXPECT_NO_THROW(reject_unknown(problem, {"k", "m", "n"}));
  try {
    reject_unknown(problem, {"m"});
    FAIL() << "k was not rejected";
  } catch (const failure& caught) {
    EXPECT_EQ(caught.code, HM_UNSUPPORTED);
    EXPECT_NE(std::string(caught.what()).find("'k'"), std::string::npos);
  }
  EXPECT_THROW(require_param(problem, "n"), failure);
}

TEST(Params, sizes_must_be_positive_and_own_values_can_be_viewed) {
  const std::vector<hm_param> values{{"k", 5}, {"m", 0}, {"one", 1}, {"dtype", HM_DTYPE_BF16}};
  const Params params(values.data(), values.size());
  EXPECT_EQ(params.at("m"), 0);
  EXPECT_EQ(params.extent("one"), 1);
  EXPECT_EQ(params.dtype("dtype"), HM_DTYPE_BF16);
  EXPECT_EQ(params.value_or("absent", -7), -7);
  try {
    params.extent("m");
    FAIL() << "0 was taken for a size";
  } catch (const failure& caught) {
    EXPECT_EQ(caught.code, HM_UNSUPPORTED);
    EXPECT_STREQ(caught.what(), "parameter 'm' must be at least 1");
  }
  EXPECT_THROW(params.at("absent"), failure);
}

TEST(Failures, a_refusal_of_the_problem_and_a_mistake_of_the_host_have_their_own_codes) {
  const auto code_of = [](auto call) {
    try {
      call();
    } catch (const failure& caught) {
      return caught.code;
    }
    return HM_OK;
  };
  EXPECT_EQ(code_of([] { unsupported("no such tile"); }), HM_UNSUPPORTED);
  EXPECT_EQ(code_of([] { invalid("no communicator"); }), HM_INVALID_ARGUMENT);
}

TEST(ElementTypes, names_and_widths_are_the_hosts) {
  for (const halmark::Dtype dtype : halmark::all_dtypes()) {
    const auto number = static_cast<std::int64_t>(dtype);
    EXPECT_EQ(halmark::plugin::dtype_name(number), halmark::dtype_name(dtype));
    EXPECT_EQ(halmark::plugin::dtype_bits(number), halmark::dtype_bits(dtype));
    if (halmark::dtype_bits(dtype) % 8 == 0) {
      EXPECT_EQ(element_bytes(number) * 8, halmark::dtype_bits(dtype));
    } else {
      EXPECT_THROW(element_bytes(number), failure) << number;
    }
  }
  EXPECT_EQ(halmark::plugin::dtype_name(0), "unknown dtype");
  EXPECT_EQ(halmark::plugin::dtype_name(28), "unknown dtype");
  EXPECT_THROW(element_bytes(28), failure);
}

TEST(OperandValues, plain_ones_have_strides_and_packed_ones_their_own_size_and_layout) {
  const Operand plain{"src", HM_ROLE_INPUT, HM_DTYPE_F16, {2, 3}, 0, ""};
  hm_operand out{};
  describe(plain, out);
  EXPECT_STREQ(out.layout, "ab");
  EXPECT_EQ(out.strides[0], 3);
  EXPECT_EQ(out.bytes, 12u);
  EXPECT_EQ(stored_bytes(plain), 12u);

  const Operand packed{"wei", HM_ROLE_CONSTANT, HM_DTYPE_F16, {2, 3}, 64, "panel_32"};
  describe(packed, out);
  EXPECT_STREQ(out.layout, "panel_32");
  EXPECT_EQ(out.strides[0], 0);
  EXPECT_EQ(out.strides[1], 0);
  EXPECT_EQ(out.bytes, 64u);
  EXPECT_EQ(plain_bytes(packed), 12u);
  EXPECT_EQ(stored_bytes(packed), 64u);

  hm_prepared_info info{};
  describe(PreparedInfo{.implementation = "own:panel", .isa = "avx2", .workspace_bytes = 128},
           {plain, packed, packed}, info);
  EXPECT_EQ(info.operand_count, 3u);
  EXPECT_EQ(info.constant_bytes, 128u) << "as stored, inputs not counted";
  EXPECT_EQ(info.workspace_bytes, 128u);
  EXPECT_EQ(info.launches_per_execution, 1u);
  EXPECT_STREQ(info.implementation, "own:panel");
}

TEST(PlainOperand, strides_and_bytes_follow_from_dims_and_type) {
  hm_operand operand{};
  plain_operand(operand, "src", HM_ROLE_INPUT, HM_DTYPE_BF16, {3, 5, 7});
  EXPECT_EQ(operand.rank, 3u);
  EXPECT_EQ(operand.strides[0], 35);
  EXPECT_EQ(operand.strides[1], 7);
  EXPECT_EQ(operand.strides[2], 1);
  EXPECT_EQ(operand.bytes, 3u * 5 * 7 * 2);
  hm_operand packed{};
  plain_operand(packed, "wei", HM_ROLE_CONSTANT, HM_DTYPE_S4, {4, 5});
  EXPECT_EQ(packed.bytes, 4u * 3) << "rows of sub-byte elements start on a byte";
  EXPECT_THROW(
      plain_operand(packed, "wei", HM_ROLE_CONSTANT, HM_DTYPE_S4, std::vector<std::int64_t>(9, 1)),
      failure);
}

TEST(ForEachExecution, walks_the_ring_in_order) {
  const hm_arguments sets[3] = {
      {nullptr, nullptr, 0, 0}, {nullptr, nullptr, 1, 0}, {nullptr, nullptr, 2, 0}};
  hm_launch launch{};
  launch.set_count = 3;
  launch.repeat = 7;
  launch.sets = sets;
  std::vector<std::uint32_t> order;
  for_each_execution(launch, [&](const hm_arguments& set) { order.push_back(set.count); });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0}));
}

// The least a backend may be, and one with every optional member.
struct Bare {
  struct Prepared {
    void info(hm_prepared_info&) {}
    void operand(std::uint32_t, hm_operand&) {}
    void enqueue(SynchronousStream&, const hm_launch&) {}
  };
  struct Device {
    void require_support(std::uint32_t, const hm_problem&, Params) {}
    std::unique_ptr<Prepared> prepare(std::uint32_t, const hm_problem&, Params) { return nullptr; }
  };
  static constexpr const char* name = "bare";
  static constexpr const char* version = "0";
  std::uint32_t device_count() { return 1; }
  void describe(std::uint32_t, hm_device_info&) {}
  std::unique_ptr<Device> open(std::uint32_t, Params) { return std::make_unique<Device>(); }
  std::uint32_t kernel_count() { return 1; }
  void describe_kernel(std::uint32_t, hm_kernel_info&) {}
};

struct Full : Bare {
  struct Stream {
    void wait() {}
    void hold(std::uint64_t) {}
    void unhold() {}
    void flush_caches() {}
  };
  struct Event {
    void record(Stream&) {}
    double elapsed_ns(Event&) { return 1; }
    double elapsed_cycles(Event&) { return 2; }
  };
  struct Comm {};
  struct Prepared {
    void info(hm_prepared_info&) {}
    void operand(std::uint32_t, hm_operand&) {}
    void enqueue(Stream&, const hm_launch&) {}
    void load_constants(Stream&, const hm_arguments&) {}
  };
  struct Device {
    void require_support(std::uint32_t, const hm_problem&, Params) {}
    std::unique_ptr<Prepared> prepare(std::uint32_t, const hm_problem&, Params, Comm*) {
      return std::make_unique<Prepared>();
    }
    std::unique_ptr<Event> event() { return std::make_unique<Event>(); }
    std::unique_ptr<Comm> comm(std::string_view, std::uint32_t, std::uint32_t) {
      return std::make_unique<Comm>();
    }
    void clocks(hm_clocks&) {}
    double energy_microjoules() { return 0; }
  };
  std::unique_ptr<Device> open(std::uint32_t, Params) { return std::make_unique<Device>(); }
};

TEST(Tables, hold_an_optional_entry_only_where_the_class_has_the_member) {
  const hm_plugin_api& bare = halmark::plugin::detail::Seam<Bare>::api;
  EXPECT_EQ(bare.probe, nullptr);
  EXPECT_EQ(bare.comm, nullptr);
  EXPECT_EQ(bare.stream->event_create, nullptr);
  EXPECT_EQ(bare.stream->hold, nullptr);
  EXPECT_EQ(bare.kernel->load_constants, nullptr);
  EXPECT_NE(bare.memory->wrap, nullptr) << "HostBuffer wraps";
  EXPECT_STRNE(bare.build, "");

  const hm_plugin_api& full = halmark::plugin::detail::Seam<Full>::api;
  EXPECT_TRUE(HM_HAS(full.probe, cache_flush));
  EXPECT_TRUE(HM_HAS(full.probe, clocks_read));
  EXPECT_TRUE(HM_HAS(full.probe, energy_read));
  EXPECT_TRUE(HM_HAS(full.comm, create));
  EXPECT_TRUE(HM_HAS(full.stream, event_elapsed_ns));
  EXPECT_TRUE(HM_HAS(full.stream, event_elapsed_cycles));
  EXPECT_TRUE(HM_HAS(full.stream, unhold));
  EXPECT_TRUE(HM_HAS(full.kernel, load_constants));
}

TEST(Tables, an_entry_that_makes_no_object_is_an_error) {
  const hm_plugin_api& bare = halmark::plugin::detail::Seam<Bare>::api;
  hm_error error = fresh_error();
  hm_host host{};
  hm_plugin* plugin = nullptr;
  hm_device* device = nullptr;
  hm_prepared* prepared = nullptr;
  const hm_problem problem{sizeof(hm_problem), 0, "copy", nullptr};
  ASSERT_EQ(bare.create(&host, &plugin, &error), HM_OK);
  ASSERT_EQ(bare.device->open(plugin, 0, nullptr, &device, &error), HM_OK);
  EXPECT_EQ(bare.kernel->prepare(device, 0, &problem, nullptr, nullptr, &prepared, &error),
            HM_INTERNAL);
  EXPECT_STREQ(error.message, "prepare made no object");
  EXPECT_EQ(bare.kernel->prepare(device, 1, &problem, nullptr, nullptr, &prepared, &error),
            HM_INVALID_ARGUMENT);
  bare.device->close(device);
  bare.destroy(plugin);
}

}  // namespace
