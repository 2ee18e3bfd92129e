#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "core/kernel_case.hpp"
#include "core/problem.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

KernelCase gemm_case() {
  KernelCase out;
  out.problem = {"gemm", {{"m", 4}, {"n", 3072}, {"k", 1024}}};
  out.config = {{{"threads", 1}}, {}};
  out.kernel = "gemm";
  out.backend = "cpu";
  out.parts = 2;
  out.shards_at_once = 2;
  out.sets = 4;
  return out;
}

TEST(KernelCase, the_key_is_the_one_that_stored_rows_carry) {
  EXPECT_EQ(gemm_case().key(),
            "gemm k=1024 m=4 n=3072 | gemm threads=1 | cpu:0/2x2 | rotate_const:4");
  EXPECT_EQ(KernelCase{}.key(), " | - | :0/1x1 | rotate_const:1");
}

TEST(KernelCase, every_field_is_part_of_the_key) {
  std::set<std::string> keys{gemm_case().key()};
  const auto differs = [&](auto change) {
    KernelCase other = gemm_case();
    change(other);
    EXPECT_TRUE(keys.insert(other.key()).second) << other.key();
  };
  differs([](KernelCase& c) { c.problem.op = "gemv"; });
  differs([](KernelCase& c) { c.problem.params.set("m", 5); });
  differs([](KernelCase& c) { c.config.params.set("threads", 2); });
  differs([](KernelCase& c) { c.kernel = "other"; });
  differs([](KernelCase& c) { c.backend = "gpu"; });
  differs([](KernelCase& c) { c.device = "1"; });
  differs([](KernelCase& c) { c.parts = 4; });
  differs([](KernelCase& c) { c.shards_at_once = 1; });
  differs([](KernelCase& c) { c.mode = CacheMode::hot; });
  differs([](KernelCase& c) { c.sets = 5; });
  differs([](KernelCase& c) { c.neighbours = "9f3a2b1c00d4"; });
  differs([](KernelCase& c) { c.neighbours = "000000000001"; });
}

TEST(KernelCase, one_that_stands_in_a_stack_names_its_place_and_lies_as_in_a_loop) {
  KernelCase c = gemm_case();
  EXPECT_EQ(c.staging(), CacheMode::rotate_const);
  c.mode = CacheMode::in_stack;
  c.neighbours = "9f3a2b1c00d4";
  EXPECT_TRUE(c.key().ends_with(" | in_stack:4 9f3a2b1c00d4")) << c.key();
  EXPECT_EQ(c.staging(), CacheMode::rotate_const);
  c.mode = CacheMode::rotate_all;
  EXPECT_EQ(c.staging(), CacheMode::rotate_all);
}

TEST(CacheMode, every_name_is_read_back) {
  for (const CacheMode mode : {CacheMode::hot, CacheMode::rotate_const, CacheMode::rotate_all,
                               CacheMode::flush, CacheMode::in_stack}) {
    EXPECT_EQ(parse_cache_mode(cache_mode_name(mode)), mode);
  }
  EXPECT_FALSE(parse_cache_mode("cold"));
}

TEST(KernelCase, a_problem_with_ranks_is_a_collective) {
  KernelCase c = gemm_case();
  EXPECT_FALSE(c.is_collective());
  c.problem.params.set("ranks", 2);
  EXPECT_TRUE(c.is_collective());
}

TEST(RingSets, covers_the_ring_and_stays_between_one_and_the_instances) {
  EXPECT_EQ(ring_sets(100, 10, 28), 10);
  EXPECT_EQ(ring_sets(101, 10, 28), 11) << "rounded up";
  EXPECT_EQ(ring_sets(1000, 10, 28), 28) << "never more than the stack has";
  EXPECT_EQ(ring_sets(5, 10, 28), 1);
  EXPECT_EQ(ring_sets(0, 10, 28), 1);
  EXPECT_EQ(ring_sets(100, 0, 28), 1) << "nothing to rotate";
  EXPECT_EQ(ring_sets(100, 10, 1), 1);
  EXPECT_EQ(ring_sets(100, 10, 0), 1);
}

TEST(ShardPlace, a_whole_device_is_written_without_its_parts) {
  EXPECT_EQ((ShardPlace{"cpu", "0", 1, 0}).text(), "cpu:0");
  EXPECT_EQ((ShardPlace{"cpu", "0", 2, 1}).text(), "cpu:0/2.1");
}

TEST(ShardPlace, is_read_from_its_words_or_not_at_all) {
  EXPECT_EQ(parse_shard_place("cpu:0"), (ShardPlace{"cpu", "0", 1, 0}));
  EXPECT_EQ(parse_shard_place("cuda:1/4"), (ShardPlace{"cuda", "1", 4, 0}));
  EXPECT_EQ(parse_shard_place("cuda:1/4.3"), (ShardPlace{"cuda", "1", 4, 3}));
  EXPECT_EQ(parse_shard_place("a:b:c"), (ShardPlace{"a", "b:c", 1, 0}));
  EXPECT_EQ(parse_shard_place("x:0/1.0"), (ShardPlace{"x", "0", 1, 0}));
  EXPECT_EQ(parse_shard_place("x:0/4096.4095")->part, 4095);
  for (const char* bad :
       {"", "cpu", ":0", "cpu:", "c pu:0", "c+pu:0", "c/pu:0", "cpu:/2", "cpu:0/0", "cpu:0/-1",
        "cpu:0/4097", "cpu:0/2.2", "cpu:0/2.-1", "cpu:0/2.", "cpu:0/x", "cpu:0/2x", "cpu:0/"}) {
    EXPECT_FALSE(parse_shard_place(bad)) << bad;
  }
}

TEST(DeviceOverNodes, says_of_how_many_nodes_it_is) {
  EXPECT_EQ(device_over_nodes("0", 2), "0@2");
  EXPECT_EQ(nodes_of_device("0@2"), 2);
  EXPECT_EQ(nodes_of_device("a@b@12"), 12);
  for (const char* one : {"0", "0@", "0@x", "0@0", "0@-3", ""}) {
    EXPECT_EQ(nodes_of_device(one), 1) << one;
  }
}

TEST(KernelCase, arguments_are_shared_by_what_differs_in_shards_and_sets_alone) {
  KernelCase other = gemm_case();
  other.shards_at_once = 1;
  other.sets = 9;
  EXPECT_TRUE(gemm_case().shares_arguments(other));
  const auto differs = [&](auto change) {
    KernelCase changed = gemm_case();
    change(changed);
    EXPECT_FALSE(gemm_case().shares_arguments(changed)) << changed.key();
  };
  differs([](KernelCase& c) { c.problem.params.set("m", 5); });
  differs([](KernelCase& c) { c.neighbours = "9f3a2b1c00d4"; });
  differs([](KernelCase& c) { c.kernel = "other"; });
  differs([](KernelCase& c) { c.mode = CacheMode::hot; });
  differs([](KernelCase& c) { c.parts = 4; });
}

Problem gemm() {
  return {
      "gemm",
      {{"m", 1}, {"n", 3072}, {"k", 1024}, {"src_dtype", static_cast<std::int64_t>(Dtype::bf16)}}};
}

TEST(Params, order_of_writing_does_not_matter) {
  const Params a{{"m", 1}, {"k", 3}, {"n", 2}}, b{{"n", 2}, {"m", 1}, {"k", 3}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.text(), "k=3 m=1 n=2");
}

TEST(Params, a_second_value_replaces_the_first) {
  Params p{{"m", 1}};
  p.set("m", 5);
  EXPECT_EQ(p.size(), 1u);
  EXPECT_EQ(p.at("m"), 5);
}

TEST(Params, an_absent_parameter_is_named) {
  const Params p{{"m", 1}};
  EXPECT_EQ(p.find("n"), std::nullopt);
  EXPECT_EQ(p.value_or("n", 7), 7);
  try {
    p.at("n");
    FAIL() << "an absent parameter was given a value";
  } catch (const std::out_of_range& e) {
    EXPECT_NE(std::string(e.what()).find("'n'"), std::string::npos);
  }
}

TEST(Params, data_types_are_printed_by_name_and_checked) {
  EXPECT_EQ(gemm().text(), "gemm k=1024 m=1 n=3072 src_dtype=bf16");
  EXPECT_EQ(gemm().params.dtype("src_dtype"), Dtype::bf16);
  EXPECT_THROW(gemm().params.dtype("m_dtype"), std::out_of_range);
  const Params odd{{"dtype", 999}};
  EXPECT_EQ(odd.text(), "dtype=999") << "a number that names no type stays a number";
  EXPECT_THROW(odd.dtype("dtype"), std::out_of_range);
}

TEST(Problem, without_parameters_it_is_the_op) { EXPECT_EQ((Problem{"fma", {}}.text()), "fma"); }

TEST(Config, labels_stand_for_indices_that_are_not_stable) {
  const Config config{{{"threads", 2}, {"impl", 4}}, {{"impl", "brg:avx512_core"}}};
  EXPECT_EQ(config.text(), "impl=brg:avx512_core threads=2");
  EXPECT_EQ(Config{}.text(), "");
}

}  // namespace
}  // namespace halmark
