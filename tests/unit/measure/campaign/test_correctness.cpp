#include "measure/campaign/gate/correctness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/inputs.hpp"
#include "measure/campaign/gate/element_choice.hpp"

namespace halmark {
namespace {

// A gemm whose output is computed here, in f32, straight from the generated inputs.
struct Gemm {
  std::int64_t m, n, k;
  Dtype source, result;
  std::uint64_t seed = 42;
  Problem problem;
  const OpContract* contract = find_contract("gemm");
  std::vector<std::byte> bytes;
  protocol::Revealed revealed;

  Gemm(std::int64_t m_, std::int64_t n_, std::int64_t k_, Dtype source_, Dtype result_,
       std::vector<int> sets = {0})
      : m(m_), n(n_), k(k_), source(source_), result(result_) {
    problem = complete_problem({"gemm",
                                {{"m", m},
                                 {"n", n},
                                 {"k", k},
                                 {"src_dtype", static_cast<std::int64_t>(source)},
                                 {"wei_dtype", static_cast<std::int64_t>(source)},
                                 {"dst_dtype", static_cast<std::int64_t>(result)}}});
    for (const int set : sets) append(set);
  }

  void append(int set) {
    const auto operands = contract->operands(problem.params);
    const auto count = static_cast<std::size_t>(operands[2].bytes());
    const auto offset = bytes.size();
    bytes.resize(offset + count);
    revealed.parts.push_back({.set = set,
                              .operand = 2,
                              .offset = static_cast<std::int64_t>(offset),
                              .bytes = static_cast<std::int64_t>(count)});
    const InputPool src(seed, operands[0]), wei(seed, operands[1]);
    std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    src.read(0, 0, 0, 0, a);
    wei.read(0, set, 1, 0, b);
    std::vector<float> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (std::int64_t p = 0; p < k; ++p) {
        const auto left = static_cast<float>(a[static_cast<std::size_t>(i * k + p)]);
        for (std::int64_t j = 0; j < n; ++j) {
          row[static_cast<std::size_t>(j)] +=
              left * static_cast<float>(b[static_cast<std::size_t>(p * n + j)]);
        }
      }
      for (std::int64_t j = 0; j < n; ++j) {
        store_element(result, bytes.data() + offset, i * n + j,
                      round_to(result, static_cast<double>(row[static_cast<std::size_t>(j)])));
      }
    }
  }

  double get(std::int64_t i, std::int64_t j) {
    return load_element(result, bytes.data(), i * n + j);
  }
  void set(std::int64_t i, std::int64_t j, double value) {
    store_element(result, bytes.data(), i * n + j, value);
  }
  CorrectnessResult check(const CheckPlan& plan = {}) {
    return check_outputs(*contract, problem, seed, 0, CacheMode::rotate_const, false,
                         {revealed, bytes}, plan);
  }
};

CheckPlan sampled(std::uint64_t seed = 9) {
  CheckPlan plan;
  plan.seed = seed;
  plan.small_output_elements = 0;
  plan.lines_and_freivalds = true;
  return plan;
}

TEST(Correctness, true_results_pass_every_method) {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    Gemm gemm(65, 130, 96, dtype, dtype, {0, 2});
    const CorrectnessResult every = gemm.check(every_element_plan());
    EXPECT_TRUE(every.ok) << every.reason;
    EXPECT_EQ(every.correctness.checked, 2 * 65 * 130);
    EXPECT_GT(every.correctness.worst_ratio, 0);
    const CorrectnessResult some = gemm.check(sampled());
    EXPECT_TRUE(some.ok) << some.reason;
    EXPECT_NE(some.correctness.method.find("freivalds"), std::string::npos);
    EXPECT_NE(some.correctness.method.find("2 rows, 2 columns"), std::string::npos);
    EXPECT_LT(some.correctness.checked, every.correctness.checked);
  }
}

TEST(Correctness, integer_products_are_exact) {
  Gemm gemm(33, 40, 64, Dtype::s8, Dtype::s32);
  EXPECT_TRUE(gemm.check(sampled()).ok);
  gemm.set(32, 39, gemm.get(32, 39) + 1);
  EXPECT_EQ(gemm.check(every_element_plan()).status, Status::wrong_result);
}

TEST(Correctness, all_zeros_fail) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32);
  std::fill(gemm.bytes.begin(), gemm.bytes.end(), std::byte{0});
  EXPECT_EQ(gemm.check(sampled()).status, Status::wrong_result);
}

TEST(Correctness, a_wrong_last_element_fails_by_sampling_too_and_is_named) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32);
  gemm.set(64, 129, gemm.get(64, 129) + 0.5);
  const CorrectnessResult result = gemm.check(sampled());
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_NE(result.reason.find("dst[64, 129]"), std::string::npos) << result.reason;
}

TEST(Correctness, nan_is_its_own_status_wherever_it_stands) {
  Gemm gemm(65, 130, 96, Dtype::bf16, Dtype::bf16);
  gemm.set(37, 77, std::numeric_limits<double>::quiet_NaN());
  const CorrectnessResult result = gemm.check(sampled());
  EXPECT_EQ(result.status, Status::nan_result);
  EXPECT_NE(result.reason.find("dst[37, 77]"), std::string::npos) << result.reason;
}

TEST(Correctness, one_unwritten_element_anywhere_fails) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32);
  std::memset(gemm.bytes.data() + (30 * 130 + 71) * 4, 0xff, 4);
  const CorrectnessResult result = gemm.check(sampled());
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_NE(result.reason.find("dst[30, 71]"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("never written"), std::string::npos) << result.reason;
}

TEST(Correctness, swapped_rows_fail) {
  Gemm gemm(1024, 48, 24, Dtype::f32, Dtype::f32);
  const auto row_bytes = 48 * 4;
  std::swap_ranges(gemm.bytes.begin() + 501 * row_bytes, gemm.bytes.begin() + 502 * row_bytes,
                   gemm.bytes.begin() + 777 * row_bytes);
  CheckPlan plan = sampled();
  plan.random_elements = 8;
  EXPECT_EQ(gemm.check(plan).status, Status::wrong_result);
}

// A block of 2 x 2 among 400 x 400 that no element, row or column of this plan touches.
TEST(Correctness, a_gross_error_that_the_elements_miss_fails_freivalds) {
  Gemm gemm(400, 400, 24, Dtype::f32, Dtype::f32);
  for (const int i : {201, 202}) {
    for (const int j : {333, 334}) gemm.set(i, j, 0);
  }
  CheckPlan plan = sampled();
  plan.random_elements = 8;
  const CorrectnessResult result = gemm.check(plan);
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_NE(result.reason.find("freivalds"), std::string::npos) << result.reason;
  plan.lines_and_freivalds = false;
  EXPECT_TRUE(gemm.check(plan).ok) << "the elements do see it: the test shows nothing";
}

TEST(Correctness, results_of_a_lower_precision_fail) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32);
  for (int i = 0; i < 65; ++i) {
    for (int j = 0; j < 130; ++j) gemm.set(i, j, round_to(Dtype::bf16, gemm.get(i, j)));
  }
  const CorrectnessResult result = gemm.check(sampled());
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_GT(result.correctness.worst_ratio, 1);
}

TEST(Correctness, results_of_another_set_fail) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32, {0});
  gemm.revealed.parts[0].set = 1;
  EXPECT_EQ(gemm.check(sampled()).status, Status::wrong_result);
}

TEST(Correctness, shared_constants_are_recomputed_from_set_0) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32, {0});
  gemm.revealed.parts[0].set = 3;
  const auto result = check_outputs(*gemm.contract, gemm.problem, gemm.seed, 0,
                                    CacheMode::rotate_const, true, {gemm.revealed, gemm.bytes}, {});
  EXPECT_TRUE(result.ok) << result.reason;
}

TEST(Correctness, damage_fails_with_the_attack_named) {
  Gemm gemm(4, 4, 4, Dtype::f32, Dtype::f32);
  gemm.revealed.inputs_intact = false;
  gemm.revealed.damage = "src";
  CorrectnessResult result = gemm.check();
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_NE(result.reason.find("mutated its inputs: src"), std::string::npos) << result.reason;
  gemm.revealed.inputs_intact = true;
  gemm.revealed.canaries_intact = false;
  result = gemm.check();
  EXPECT_EQ(result.status, Status::wrong_result);
  EXPECT_NE(result.reason.find("out of bounds"), std::string::npos) << result.reason;
}

TEST(Correctness, parts_that_do_not_fit_the_contract_are_refused) {
  Gemm gemm(4, 4, 4, Dtype::f32, Dtype::f32);
  const auto good = gemm.revealed.parts[0];
  for (const protocol::RevealedPart bad :
       {protocol::RevealedPart{0, 7, 0, 64}, protocol::RevealedPart{0, 0, 0, 64},
        protocol::RevealedPart{0, 2, 0, 60}, protocol::RevealedPart{0, 2, 8, 64},
        protocol::RevealedPart{0, 2, -64, 64}}) {
    gemm.revealed.parts[0] = bad;
    EXPECT_FALSE(gemm.check().ok) << bad.operand << " " << bad.offset << " " << bad.bytes;
  }
  gemm.revealed.parts[0] = good;
  EXPECT_TRUE(gemm.check().ok);
  gemm.revealed.parts.clear();
  EXPECT_FALSE(gemm.check().ok);
}

TEST(Correctness, parts_are_refused_at_every_edge_with_what_is_wrong) {
  Gemm gemm(4, 4, 4, Dtype::f32, Dtype::f32);
  gemm.bytes.resize(70);
  const auto reason = [&](std::int64_t operand, std::int64_t offset, std::int64_t bytes) {
    gemm.revealed.parts[0] = {0, operand, offset, bytes};
    return gemm.check().reason;
  };
  EXPECT_EQ(reason(-1, 0, 64), "a revealed part names operand -1");
  EXPECT_EQ(reason(3, 0, 64), "a revealed part names operand 3");
  EXPECT_EQ(reason(1, 0, 64), "revealed operand wei is no output");
  EXPECT_EQ(reason(2, 0, 63), "revealed dst has 63 bytes, expected 64");
  EXPECT_EQ(reason(2, 0, 65), "revealed dst has 65 bytes, expected 64");
  for (const std::int64_t offset : {-1, 7, 70, 71, 1000}) {
    EXPECT_EQ(reason(2, offset, 64), "revealed dst lies outside its memory") << offset;
  }
  EXPECT_EQ(reason(2, 0, 64), "");
  EXPECT_EQ(reason(2, 6, 64).find("outside"), std::string::npos) << "to the last byte";
}

// An exact element that is off by one has an error of two: no miss is one or less.
TEST(Correctness, an_exact_element_is_off_by_its_error_and_one) {
  Gemm gemm(3, 4, 5, Dtype::s8, Dtype::s32);
  EXPECT_EQ(gemm.check(every_element_plan()).correctness.worst_ratio, 0);
  gemm.set(1, 2, gemm.get(1, 2) + 3);
  EXPECT_EQ(gemm.check(every_element_plan()).correctness.worst_ratio, 4);
}

// Plans of which the budget, the small outputs and the lines are written down.
TEST(Correctness, a_plan_is_followed_to_its_numbers) {
  Gemm gemm(64, 96, 10, Dtype::f32, Dtype::f32);
  const auto method = [&](const CheckPlan& plan) { return gemm.check(plan).correctness.method; };
  CheckPlan plan;
  plan.random_elements = 8;
  plan.tile_corners = false;
  plan.lines_and_freivalds = false;
  // In full: 6144 elements of 20 FLOP each.
  plan.small_output_elements = 64 * 96;
  plan.reference_flops_max = 64 * 96 * 20;
  EXPECT_EQ(method(plan), "poison scan, every element");
  plan.small_output_elements -= 1;
  EXPECT_EQ(method(plan), "poison scan, 8 random elements");
  plan.small_output_elements += 1;
  plan.reference_flops_max -= 1;
  EXPECT_EQ(method(plan), "poison scan, 8 random elements");
  plan.every_element = true;
  EXPECT_EQ(method(plan), "poison scan, every element");
  plan.every_element = false;
  // A quarter of the budget a line: 30 elements of 20 FLOP, of 64 and 96.
  plan.lines_and_freivalds = true;
  plan.reference_flops_max = 4 * 30 * 20;
  EXPECT_NE(method(plan).find("2 rows and 2 columns (stretches of 30)"), std::string::npos);
  plan.reference_flops_max = 4 * 95 * 20;
  EXPECT_NE(method(plan).find("(stretches of 95)"), std::string::npos);
  plan.reference_flops_max = 4 * 96 * 20;
  EXPECT_NE(method(plan).find("2 rows, 2 columns"), std::string::npos) << method(plan);
  plan.reference_flops_max = 20;
  EXPECT_NE(method(plan).find("(stretches of 16)"), std::string::npos) << method(plan);
}

// Freivalds reads A, B and C: 64 x 10 + 10 x 96 + 64 x 96 elements.
TEST(Correctness, sums_are_taken_up_to_a_number_of_elements) {
  Gemm gemm(64, 96, 10, Dtype::f32, Dtype::f32);
  CheckPlan plan = sampled();
  plan.freivalds_elements_max = 640 + 960 + 6144;
  EXPECT_TRUE(gemm.check(plan).correctness.method.ends_with(", freivalds"));
  plan.freivalds_elements_max -= 1;
  EXPECT_TRUE(gemm.check(plan).correctness.method.ends_with(", no freivalds above 7743 elements"))
      << gemm.check(plan).correctness.method;
}

TEST(Correctness, after_the_loop_little_is_compared) {
  const CheckPlan plan = after_loop_plan(5);
  EXPECT_EQ(plan.seed, 5u);
  EXPECT_EQ(plan.random_elements, 64);
  EXPECT_FALSE(plan.tile_corners);
  EXPECT_EQ(plan.small_output_elements, 64);
  EXPECT_EQ(plan.reference_flops_max, 4e6);
  EXPECT_FALSE(plan.lines_and_freivalds);
  EXPECT_TRUE(every_element_plan().every_element);
}

// Several parts are one verdict: the elements of all, the worst ratio, the set that failed.
TEST(Correctness, parts_are_summed_up_to_the_first_that_fails) {
  Gemm gemm(3, 5, 7, Dtype::f32, Dtype::f32, {0, 1, 2});
  const CorrectnessResult fine = gemm.check();
  EXPECT_EQ(fine.correctness.checked, 45);
  const std::size_t second = 3 * 5 * 4;
  store_element(Dtype::f32, gemm.bytes.data() + second, 9, 1e9);
  const CorrectnessResult failed = gemm.check();
  EXPECT_EQ(failed.correctness.checked, 30) << "nothing behind the failure";
  EXPECT_GT(failed.correctness.worst_ratio, 1);
  EXPECT_NE(failed.reason.find("dst[1, 4] of set 1 is 1e+09, expected "), std::string::npos)
      << failed.reason;
}

TEST(Correctness, an_infinite_element_is_named_as_such) {
  Gemm gemm(65, 130, 96, Dtype::f32, Dtype::f32);
  gemm.set(1, 2, std::numeric_limits<double>::infinity());
  const CorrectnessResult result = gemm.check(sampled());
  EXPECT_EQ(result.status, Status::nan_result);
  EXPECT_NE(result.reason.find("dst[1, 2] of set 0 is infinite"), std::string::npos)
      << result.reason;
}

// Costed by rows of n columns, a budget would cover a handful of rows and so a handful of experts.
TEST(Correctness, a_grouped_gemm_is_costed_by_elements) {
  const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
  const Problem problem = complete_problem({"grouped_gemm",
                                            {{"tokens", 64},
                                             {"top_k", 8},
                                             {"experts", 32},
                                             {"n", 1024},
                                             {"k", 512},
                                             {"src_dtype", bf16},
                                             {"wei_dtype", bf16},
                                             {"dst_dtype", bf16}}});
  const OpContract& contract = *find_contract("grouped_gemm");
  const auto cost = reference_cost(contract, problem.params,
                                   output_shape(contract.operands(problem.params).back()));
  EXPECT_FALSE(cost.groups_are_rows);
  EXPECT_EQ(cost.per_group, 2.0 * 512);
}

TEST(Correctness, small_outputs_are_compared_in_full) {
  Gemm gemm(3, 5, 7, Dtype::f32, Dtype::f32);
  const CorrectnessResult result = gemm.check();
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.correctness.checked, 15);
  EXPECT_NE(result.correctness.method.find("every element"), std::string::npos);
}

}  // namespace
}  // namespace halmark
