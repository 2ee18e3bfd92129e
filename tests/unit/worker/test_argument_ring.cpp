// Which buffers the sets of a ring share, how many sets there are, what a launch goes through, and
// which operands of a plugin are refused.
#include "worker/staging/argument_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using test::state;
using test::TableDevice;
using testing::HasSubstr;

constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);
const Problem gemm{
    "gemm",
    {{"m", 3}, {"n", 4}, {"k", 5}, {"src_dtype", f32}, {"wei_dtype", f32}, {"dst_dtype", f32}}};
Problem copy(std::int64_t bytes) { return {"copy", {{"bytes", bytes}}}; }

// Of gemm: which of src, wei and dst differ between sets 0 and 2.
std::vector<bool> differing(CacheMode mode) {
  TableDevice d(gemm);
  const auto kernel = d.stage(mode, 3);
  std::vector<bool> out;
  for (std::size_t i = 0; i < 3; ++i) {
    out.push_back(kernel->ring().handles(0)[i] != kernel->ring().handles(2)[i]);
    EXPECT_EQ(kernel->ring().buffer(2, i).handle(), kernel->ring().handles(2)[i]);
  }
  return out;
}

TEST(ArgumentRing, has_inputs_of_their_own_only_where_everything_rotates) {
  EXPECT_EQ(differing(CacheMode::rotate_const), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(differing(CacheMode::rotate_all), (std::vector<bool>{true, true, true}));
}

TEST(ArgumentRing, has_as_many_sets_as_its_mode_allows) {
  TableDevice d(gemm);
  EXPECT_EQ(d.stage(CacheMode::hot, 3)->sets(), 1);
  EXPECT_EQ(d.stage(CacheMode::flush, 3)->sets(), 1);
  EXPECT_EQ(d.stage(CacheMode::rotate_const, 3)->sets(), 3);
  EXPECT_EQ(d.stage(CacheMode::rotate_const, 0)->sets(), 1);
  EXPECT_EQ(d.stage(CacheMode::rotate_const, -2)->sets(), 1);
}

bool shares_output(std::int64_t bytes, CacheMode mode, std::uint32_t flags) {
  TableDevice d(copy(bytes));
  state.flags = flags;
  const auto kernel = d.stage(mode, 2);
  return kernel->ring().handles(0)[1] == kernel->ring().handles(1)[1];
}

TEST(ArgumentRing, writes_outputs_of_two_mebibytes_and_more_in_place) {
  constexpr std::int64_t limit = 2 << 20;
  EXPECT_TRUE(shares_output(limit, CacheMode::rotate_const, 0));
  EXPECT_FALSE(shares_output(limit - 1, CacheMode::rotate_const, 0));
  EXPECT_FALSE(shares_output(limit, CacheMode::rotate_all, 0));
  EXPECT_FALSE(shares_output(limit, CacheMode::rotate_const, HM_PREPARED_CONSTANTS_OPAQUE));
  EXPECT_FALSE(shares_output(limit, CacheMode::rotate_const, HM_PREPARED_CONSTANTS_IN_PREPARED));
  EXPECT_TRUE(shares_output(limit, CacheMode::rotate_const, HM_PREPARED_NONDETERMINISTIC));
}

TEST(ArgumentRing, has_eight_sets_at_most_where_constants_are_compiled_in) {
  TableDevice d(gemm);
  EXPECT_EQ(d.stage(CacheMode::rotate_const, 12)->sets(), 12);
  state.flags = HM_PREPARED_CONSTANTS_IN_PREPARED;
  state.prepared = 0;
  EXPECT_EQ(d.stage(CacheMode::rotate_const, 12)->sets(), 8);
  EXPECT_EQ(state.prepared, 8);
  EXPECT_EQ(d.stage(CacheMode::rotate_const, 7)->sets(), 7);
}

TEST(ArgumentRing, ends_where_the_memory_of_the_device_does) {
  for (const auto& [buffers, sets] : {std::pair(2, 1), std::pair(3, 1), std::pair(6, 3)}) {
    TableDevice d(copy(64));
    state.buffers_left = buffers;
    EXPECT_EQ(d.stage(CacheMode::rotate_all, 5)->sets(), sets) << buffers;
  }
  TableDevice d(copy(64));
  state.buffers_left = 1;
  EXPECT_THROW(d.stage(CacheMode::rotate_all, 5), RequestFailed) << "set 0 has to fit";
}

TEST(ArgumentRing, ends_where_the_arena_does) {
  // Each buffer takes a page.
  TableDevice d(copy(64), 7 * 4096);
  EXPECT_EQ(d.stage(CacheMode::rotate_all, 9)->sets(), 3);
  TableDevice none(copy(8192), 4096);
  EXPECT_EQ(none.stage(CacheMode::rotate_all, 9)->sets(), 1) << "set 0 finds memory elsewhere";
}

TEST(ArgumentRing, launches_from_any_set_around) {
  TableDevice d(copy(64));
  state.workspace_bytes = 1000;
  const auto kernel = d.stage(CacheMode::rotate_all, 3);
  ArgumentRing& ring = kernel->ring();
  for (int first = 0; first < 3; ++first) {
    const hm_launch launch = ring.launch(first, 5);
    EXPECT_EQ(launch.struct_size, sizeof(hm_launch));
    EXPECT_EQ(launch.set_count, 3u);
    EXPECT_EQ(launch.repeat, 5u);
    ASSERT_NE(launch.workspace, nullptr);
    EXPECT_EQ(test::of(launch.workspace).bytes, 1000u);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(launch.sets[i].buffers, ring.handles((first + i) % 3).data()) << first << i;
      EXPECT_EQ(launch.sets[i].count, 2u);
      EXPECT_EQ(launch.sets[i].sources, nullptr);
      EXPECT_EQ(launch.sets[i].reserved, 0u);
    }
  }
  const hm_arguments other{nullptr, nullptr, 0, 0};
  const hm_launch alone = ring.launch_on(other);
  EXPECT_EQ(alone.struct_size, sizeof(hm_launch));
  EXPECT_EQ(alone.set_count, 1u);
  EXPECT_EQ(alone.repeat, 1u);
  EXPECT_EQ(alone.sets, &other);
  EXPECT_EQ(test::of(alone.workspace).bytes, 1000u);
  state.workspace_bytes = 0;
  EXPECT_EQ(d.stage(CacheMode::hot, 1)->ring().launch(0, 1).workspace, nullptr);
}

TEST(ArgumentRing, fills_each_set_with_its_own_values) {
  TableDevice d(copy(10'000));
  const auto kernel = d.stage(CacheMode::rotate_all, 3);
  const auto specs = find_contract("copy")->operands(state.problem.params);
  const InputPool pool(7, specs[0]);
  for (int set = 0; set < 3; ++set) {
    std::vector<std::byte> expected(10'000);
    pool.fill(0, set, 0, expected.data());
    const std::byte* found = kernel->ring().buffer(set, 0).host();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found)) << set;
  }
}

// The one set of these modes has the values of the first, by which its output is compared.
TEST(ArgumentRing, of_one_set_has_the_values_of_the_first) {
  for (const CacheMode mode : {CacheMode::hot, CacheMode::flush, CacheMode::rotate_const}) {
    TableDevice d(copy(10'000));
    const auto kernel = d.stage(mode, 3);
    const InputPool pool(7, find_contract("copy")->operands(state.problem.params)[0]);
    std::vector<std::byte> expected(10'000);
    pool.fill(0, 0, 0, expected.data());
    const std::byte* found = kernel->ring().buffer(0, 0).host();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found)) << cache_mode_name(mode);
  }
}

TEST(ArgumentRing, poisons_outputs_alone) {
  TableDevice d(copy(100));
  const auto kernel = d.stage(CacheMode::rotate_all, 2);
  for (int set = 0; set < 2; ++set) {
    std::memset(kernel->ring().buffer(set, 0).host(), 3, 100);
    std::memset(kernel->ring().buffer(set, 1).host(), 3, 100);
  }
  kernel->ring().poison_outputs();
  for (int set = 0; set < 2; ++set) {
    EXPECT_EQ(kernel->ring().buffer(set, 0).host()[99], std::byte{3});
    EXPECT_EQ(kernel->ring().buffer(set, 1).host()[0], std::byte{0xFF});
    EXPECT_EQ(kernel->ring().buffer(set, 1).host()[99], std::byte{0xFF});
  }
}

TEST(ArgumentRing, names_the_activations_of_a_set) {
  TableDevice d(gemm);
  const auto kernel = d.stage(CacheMode::rotate_all, 2);
  const auto outputs = kernel->ring().outputs_of(1);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].operand, 2u);
  EXPECT_EQ(outputs[0].dtype, Dtype::f32);
  EXPECT_EQ(outputs[0].bytes, 3u * 4 * 4);
  EXPECT_EQ(outputs[0].handle, kernel->ring().handles(1)[2]);
  const auto inputs = kernel->ring().replaceable_inputs(1);
  ASSERT_EQ(inputs.size(), 1u) << "a weight is no activation";
  EXPECT_EQ(inputs[0].operand, 0u);
  EXPECT_EQ(inputs[0].bytes, 3u * 5 * 4);
  EXPECT_EQ(inputs[0].handle, kernel->ring().handles(1)[0]);
  EXPECT_TRUE(kernel->ring().has(Role::constant));
  EXPECT_FALSE(kernel->ring().has(Role::state));
}

std::string refusal(const Problem& problem, std::function<void(std::uint32_t, hm_operand&)> say) {
  TableDevice d(problem);
  state.say_operand = std::move(say);
  try {
    d.stage(CacheMode::hot, 1);
  } catch (const RequestFailed& failure) {
    EXPECT_EQ(failure.failed().code, HM_INTERNAL);
    EXPECT_EQ(failure.failed().phase, "create");
    return failure.failed().message;
  }
  return "accepted";
}

TEST(ForeignOperand, is_refused_with_what_differs) {
  EXPECT_THAT(refusal(gemm,
                      [](std::uint32_t i, hm_operand& o) {
                        if (i == 1) std::strcpy(o.name, "weight");
                      }),
              HasSubstr("plugin table, operand wei: is called 'weight'"));
  EXPECT_THAT(refusal(gemm,
                      [](std::uint32_t i, hm_operand& o) {
                        if (i == 2) o.role = HM_ROLE_IN_OUT;
                      }),
              HasSubstr("operand dst: has role 3"));
  EXPECT_THAT(refusal(gemm,
                      [](std::uint32_t i, hm_operand& o) {
                        if (i == 0) o.dtype = static_cast<std::int32_t>(Dtype::bf16);
                      }),
              HasSubstr("operand src: is bf16, the contract f32"));
  EXPECT_THAT(refusal(gemm,
                      [](std::uint32_t i, hm_operand& o) {
                        if (i == 2) o.bytes += 1;
                      }),
              HasSubstr("operand dst: wants 49 bytes, the contract 48"));
}

TEST(ForeignOperand, that_is_a_packed_constant_has_its_own_type_and_size) {
  EXPECT_EQ(refusal(gemm,
                    [](std::uint32_t i, hm_operand& o) {
                      if (i != 1) return;
                      o.dtype = static_cast<std::int32_t>(Dtype::bf16);
                      o.bytes += 100;
                    }),
            "accepted");
}

TEST(ForeignOperand, of_another_number_is_refused) {
  TableDevice d(gemm);
  d.tables.kernel.info = [](hm_prepared*, hm_prepared_info* info, hm_error*) -> std::int32_t {
    std::strcpy(info->implementation, "table");
    info->operand_count = 2;
    return HM_OK;
  };
  try {
    d.stage(CacheMode::hot, 1);
    ADD_FAILURE() << "accepted";
  } catch (const RequestFailed& failure) {
    EXPECT_THAT(failure.failed().message,
                HasSubstr("returned 2 operands for gemm, the contract has 3"));
  }
}

}  // namespace
}  // namespace halmark::worker
