// Which buffers the sets of a ring share, how many sets there are, what a launch goes through, and
// which operands of a plugin are refused.
#include "worker/staging/argument_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using enum CacheMode;
using test::copy;
using test::gemm;
using test::state;
using test::TableDevice;
using testing::HasSubstr;

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
  EXPECT_EQ(differing(rotate_const), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(differing(rotate_all), (std::vector<bool>{true, true, true}));
}

TEST(ArgumentRing, has_as_many_sets_as_its_mode_allows) {
  TableDevice d(gemm);
  EXPECT_EQ(d.stage(hot, 3)->sets(), 1);
  EXPECT_EQ(d.stage(flush, 3)->sets(), 1);
  EXPECT_EQ(d.stage(rotate_const, 3)->sets(), 3);
  EXPECT_EQ(d.stage(rotate_const, 0)->sets(), 1);
  EXPECT_EQ(d.stage(rotate_const, -2)->sets(), 1);
}

TEST(ArgumentRing, writes_outputs_of_two_mebibytes_and_more_in_place) {
  constexpr std::int64_t limit = 2 << 20;
  const struct {
    std::int64_t bytes;
    CacheMode mode;
    unsigned flags;
    bool shares;
  } cases[] = {{limit, rotate_const, 0, true},
               {limit - 1, rotate_const, 0, false},
               {limit, rotate_all, 0, false},
               {limit, rotate_const, HM_PREPARED_CONSTANTS_OPAQUE, false},
               {limit, rotate_const, HM_PREPARED_CONSTANTS_IN_PREPARED, false},
               {limit, rotate_const, HM_PREPARED_NONDETERMINISTIC, true}};
  for (const auto& [bytes, mode, flags, shares] : cases) {
    TableDevice d(copy(bytes));
    state.flags = flags;
    const auto kernel = d.stage(mode, 2);
    EXPECT_EQ(kernel->ring().handles(0)[1] == kernel->ring().handles(1)[1], shares) << flags;
  }
}

TEST(ArgumentRing, has_eight_sets_at_most_where_constants_are_compiled_in) {
  TableDevice d(gemm);
  EXPECT_EQ(d.stage(rotate_const, 12)->sets(), 12);
  state.flags = HM_PREPARED_CONSTANTS_IN_PREPARED;
  state.prepared = 0;
  EXPECT_EQ(d.stage(rotate_const, 12)->sets(), 8);
  EXPECT_EQ(state.prepared, 8);
  EXPECT_EQ(d.stage(rotate_const, 7)->sets(), 7);
}

TEST(ArgumentRing, ends_where_the_memory_of_the_device_does) {
  for (const auto& [buffers, sets] : {std::pair(2, 1), std::pair(3, 1), std::pair(6, 3)}) {
    TableDevice d(copy(64));
    state.buffers_left = buffers;
    EXPECT_EQ(d.stage(rotate_all, 5)->sets(), sets) << buffers;
  }
  TableDevice d(copy(64));
  state.buffers_left = 1;
  EXPECT_THROW(d.stage(rotate_all, 5), RequestFailed) << "set 0 has to fit";
}

TEST(ArgumentRing, ends_where_the_arena_does) {
  // Each buffer takes a page.
  TableDevice d(copy(64), 7 * 4096);
  EXPECT_EQ(d.stage(rotate_all, 9)->sets(), 3);
  TableDevice none(copy(8192), 4096);
  EXPECT_EQ(none.stage(rotate_all, 9)->sets(), 1) << "set 0 finds memory elsewhere";
}

TEST(ArgumentRing, launches_from_any_set_around) {
  TableDevice d(copy(64));
  state.workspace_bytes = 1000;
  const auto kernel = d.stage(rotate_all, 3);
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
  EXPECT_EQ(d.stage(hot, 1)->ring().launch(0, 1).workspace, nullptr);
}

// The one set of other modes has the values of the first, by which its output is compared.
TEST(ArgumentRing, fills_each_set_with_its_own_values) {
  for (const CacheMode mode : {hot, flush, rotate_const, rotate_all}) {
    TableDevice d(copy(10'000));
    const auto kernel = d.stage(mode, 3);
    const InputPool pool(7, find_contract("copy")->operands(state.problem.params)[0]);
    for (int set = 0; set < (mode == rotate_all ? 3 : 1); ++set) {
      std::vector<std::byte> expected(10'000);
      pool.fill(0, set, 0, expected.data());
      const std::byte* found = kernel->ring().buffer(set, 0).host();
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found)) << set;
    }
  }
}

TEST(ArgumentRing, poisons_outputs_alone) {
  TableDevice d(copy(100));
  const auto kernel = d.stage(rotate_all, 2);
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
  const auto kernel = d.stage(rotate_all, 2);
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

std::string refusal(std::function<void(std::uint32_t, hm_operand&)> say) {
  TableDevice d(gemm);
  state.say_operand = std::move(say);
  const protocol::Failed failed = test::failure_of([&] { d.stage(hot, 1); });
  if (failed.code != HM_OK) {
    EXPECT_EQ(failed.code, HM_INTERNAL);
    EXPECT_EQ(failed.phase, "create");
  }
  return failed.message;
}

TEST(ForeignOperand, is_refused_with_what_differs) {
  const struct {
    std::uint32_t operand;
    void (*change)(hm_operand&);
    const char* said;
  } cases[] = {
      {1, [](hm_operand& o) { std::strcpy(o.name, "weight"); },
       "plugin table, operand wei: is called 'weight'"},
      {2, [](hm_operand& o) { o.role = HM_ROLE_IN_OUT; }, "operand dst: has role 3"},
      {0, [](hm_operand& o) { o.dtype = static_cast<std::int32_t>(Dtype::bf16); },
       "operand src: is bf16, the contract f32"},
      {2, [](hm_operand& o) { o.bytes += 1; }, "operand dst: wants 49 bytes, the contract 48"},
      // A packed constant has its own type and size.
      {1,
       [](hm_operand& o) {
         o.dtype = static_cast<std::int32_t>(Dtype::bf16);
         o.bytes += 100;
       },
       "accepted"}};
  for (const auto& c : cases) {
    EXPECT_THAT(refusal([&](std::uint32_t i, hm_operand& o) {
                  if (i == c.operand) c.change(o);
                }),
                HasSubstr(c.said));
  }
}

TEST(ForeignOperand, of_another_number_is_refused) {
  TableDevice d(gemm);
  d.tables.kernel.info = [](hm_prepared*, hm_prepared_info* info, hm_error*) -> std::int32_t {
    std::strcpy(info->implementation, "table");
    info->operand_count = 2;
    return HM_OK;
  };
  EXPECT_THAT(test::failure_of([&] { d.stage(hot, 1); }).message,
              HasSubstr("returned 2 operands for gemm, the contract has 3"));
}

}  // namespace
}  // namespace halmark::worker
