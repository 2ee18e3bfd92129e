// Formulas: what each operation computes, and how a proof writes it.
#include "core/json/json.hpp"
#include "search/certify/formula.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace halmark {
namespace {

using namespace formula;

const std::vector<double> facts{8, 3}, times{100, 250, 40};
const std::vector<std::int32_t> slots{2, 0};
const std::vector<std::string> fact_names{"batch", "layers"}, slot_names{"qkv", "output"};

double value(const Formula& f) {
  std::vector<double> stack;
  return evaluate(f, {facts, slots, times}, stack);
}

std::string text(const Formula& f) { return formula_json(f, fact_names, slot_names).dump(); }

TEST(Formula, leaves_are_constants_facts_kernels_and_the_kernels_of_slots) {
  EXPECT_EQ(value(constant(2.5)), 2.5);
  EXPECT_EQ(value(fact(1)), 3);
  EXPECT_EQ(value(kernel(1)), 250);
  EXPECT_EQ(value(slot(0)), 40) << "kernel 2 stands in slot 0";
  EXPECT_EQ(text(constant(2.5)), "2.5");
  EXPECT_EQ(text(fact(1)), R"("layers")");
  EXPECT_EQ(text(kernel(1)), R"(["kernel",1])");
  EXPECT_EQ(text(slot(0)), R"(["slot","qkv"])");
}

TEST(Formula, folds_and_pairs) {
  const std::vector<Formula> three{kernel(0), kernel(1), kernel(2)};
  EXPECT_EQ(value(sum(three)), 390);
  EXPECT_EQ(value(largest(three)), 250);
  EXPECT_EQ(value(smallest(three)), 40);
  EXPECT_EQ(value(scaled(fact(0), kernel(2))), 320);
  EXPECT_EQ(value(divided(kernel(1), fact(0))), 31.25);
  EXPECT_EQ(value(rate(fact(0), kernel(2))), -0.2) << "rates are maximised: less is better";
  EXPECT_EQ(value(sum({constant(-1), largest({constant(-5), constant(-7)})})), -6);
  EXPECT_EQ(value(smallest({constant(5), constant(7)})), 5);
}

TEST(Formula, is_written_as_a_tree_of_names) {
  const Formula all =
      rate(fact(0), divided(sum({scaled(fact(1), slot(1)), largest({kernel(0), constant(1)}),
                                 smallest({kernel(2), kernel(1)})}),
                            constant(4)));
  EXPECT_EQ(text(all), R"(["rate","batch",["divide",["sum",["scale","layers",["slot","output"]],)"
                       R"(["max",["kernel",0],1.0],["min",["kernel",2],["kernel",1]]],4.0]])");
  EXPECT_EQ(value(all), -8 / ((3 * 100 + 100 + 40) / 4.0));
}

TEST(Formula, names_the_kernels_that_it_rests_on) {
  std::vector<std::int32_t> kernels;
  add_kernels(sum({kernel(1), slot(0), fact(0), constant(1)}), slots, kernels);
  EXPECT_EQ(kernels, (std::vector<std::int32_t>{1, 2}));
}

}  // namespace
}  // namespace halmark
