#include "core/problem.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace halmark {
namespace {

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
