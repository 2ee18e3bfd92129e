// What every op owes, whichever it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

const std::vector<Dtype> types{Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::s8,
                               Dtype::s32, Dtype::u8,   Dtype::c64, Dtype::c128};

std::vector<const OpContract*> measurable() {
  std::vector<const OpContract*> out;
  for (const OpContract* contract : all_contracts()) {
    if (contract->is_measurable()) out.push_back(contract);
  }
  return out;
}

class EveryOp : public ::testing::TestWithParam<const OpContract*> {};

TEST_P(EveryOp, is_found_by_its_name) {
  EXPECT_EQ(find_contract(GetParam()->name()), GetParam());
  EXPECT_FALSE(GetParam()->summary().empty());
}

TEST_P(EveryOp, conformance_problems_are_complete_and_small) {
  const auto cases = GetParam()->conformance_params(types);
  EXPECT_GE(cases.size(), 4u);
  for (const auto& params : cases) {
    EXPECT_EQ(completed(std::string(GetParam()->name()), params), params) << params.text();
    for (const auto& operand : GetParam()->operands(params)) {
      EXPECT_LE(operand.bytes(), 1 << 24) << params.text();
    }
  }
}

TEST_P(EveryOp, conformance_covers_each_type_it_is_asked_for_and_no_other) {
  for (const auto& params : GetParam()->conformance_params(std::vector{Dtype::f32})) {
    for (const auto& operand : GetParam()->operands(params)) {
      EXPECT_NE(operand.dtype, Dtype::bf16);
      EXPECT_NE(operand.dtype, Dtype::f16);
    }
  }
}

TEST_P(EveryOp, twins_are_well_formed_small_and_their_own_twin) {
  for (const auto& params : GetParam()->conformance_params(types)) {
    const auto twin = GetParam()->twin(params);
    EXPECT_EQ(completed(std::string(GetParam()->name()), twin), twin);
    EXPECT_EQ(GetParam()->twin(twin), twin) << params.text();
  }
}

TEST_P(EveryOp, references_are_finite_and_listed_elements_agree_with_all) {
  const auto cases = GetParam()->conformance_params(types);
  for (std::size_t i = 0; i < cases.size(); i += 1 + cases.size() / 8) {
    const auto& params = cases[i];
    const auto operands = GetParam()->operands(params);
    const GeneratedInputs inputs(17, operands, 1);
    for (std::size_t index = 0; index < operands.size(); ++index) {
      if (operands[index].role != Role::output) continue;
      const auto all = expected(std::string(GetParam()->name()), params, inputs, index);
      for (const auto& element : all) {
        ASSERT_TRUE(std::isfinite(element.value)) << params.text();
        ASSERT_TRUE(std::isfinite(element.tolerance) && element.tolerance >= 0) << params.text();
      }
      // From the back, with a repeat: the order of the list does not matter.
      std::vector<std::int64_t> some;
      for (auto e = operands[index].elements() - 1; e >= 0;
           e -= 1 + operands[index].elements() / 7) {
        some.push_back(e);
      }
      some.push_back(some.front());
      std::vector<Expected> out(some.size());
      GetParam()->reference(params, inputs, 0, index, some, out);
      for (std::size_t k = 0; k < some.size(); ++k) {
        ASSERT_EQ(out[k].value, all[as_size(some[k])].value) << params.text();
        ASSERT_EQ(out[k].tolerance, all[as_size(some[k])].tolerance);
      }
    }
  }
}

// Tolerances must reject the answer a broken kernel gives: nothing at all.
TEST_P(EveryOp, an_output_of_zeros_is_wrong) {
  const auto cases = GetParam()->conformance_params(types);
  for (std::size_t i = 0; i < cases.size(); i += 1 + cases.size() / 8) {
    const auto operands = GetParam()->operands(cases[i]);
    const GeneratedInputs inputs(17, operands, 0);
    for (std::size_t index = 0; index < operands.size(); ++index) {
      if (operands[index].role != Role::output || operands[index].elements() < 32) continue;
      const auto all = expected(std::string(GetParam()->name()), cases[i], inputs, index);
      const auto wrong = std::ranges::count_if(
          all, [](const Expected& e) { return std::fabs(e.value) > e.tolerance; });
      // A GHZ state has two amplitudes; all others are zero.
      const auto least = GetParam()->name() == "ghz" ? 2 : std::ssize(all) / 4;
      EXPECT_GT(wrong, least) << cases[i].text();
    }
  }
}

TEST_P(EveryOp, bytes_agree_with_its_operands_where_all_of_them_are_read) {
  for (const auto& params : GetParam()->conformance_params(types)) {
    const auto work = GetParam()->work(params);
    double read = 0, written = 0;
    for (const auto& operand : GetParam()->operands(params)) {
      (operand.role == Role::output ? written : read) += as_double(operand.bytes());
    }
    EXPECT_EQ(work.bytes_written, written) << params.text();
    EXPECT_GT(work.bytes_read, 0);
    const auto name = GetParam()->name();
    const bool reads_a_part = name == "embedding" || name == "grouped_gemm" ||
                              (name == "moe_dispatch" && params.at("ep_size") > 1) ||
                              params.value_or("window", 0) > 0;
    if (!reads_a_part) {
      EXPECT_EQ(work.bytes_read, read) << params.text();
    }
    EXPECT_LE(work.constant_bytes, work.bytes_read);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, ::testing::ValuesIn(measurable()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace halmark::testing
