// Sizes that follow from a load: what they are for another one, and when two are the same.
#include "model/graph/size.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace halmark {
namespace {

constexpr RankLoad here{.sequences = 3, .new_tokens = 4, .context = 50};
constexpr RankLoad there{.sequences = 5, .new_tokens = 2, .context = 70};

Size sequences() { return {LoadMeasure::sequences, here}; }
Size new_tokens() { return {LoadMeasure::new_tokens, here}; }
Size tokens() { return {LoadMeasure::tokens, here}; }
Size context() { return {LoadMeasure::context, here}; }

void expect_size(const Size& size, std::int64_t of_here, std::int64_t of_there) {
  EXPECT_EQ(size.value(), of_here);
  ASSERT_NE(size.term(), nullptr);
  EXPECT_EQ(size.term()->at(here), of_here);
  EXPECT_EQ(size.term()->at(there), of_there);
}

TEST(Size, is_a_measure_of_the_load) {
  expect_size(sequences(), 3, 5);
  expect_size(new_tokens(), 4, 2);
  expect_size(tokens(), 12, 10);
  expect_size(context(), 50, 70);
  EXPECT_EQ(sequences().term()->measures(), mask_of(LoadMeasure::sequences));
  EXPECT_EQ((tokens() * context()).term()->measures(),
            mask_of(LoadMeasure::tokens) | mask_of(LoadMeasure::context));
}

TEST(Size, calculates_for_another_load_as_for_its_own) {
  struct Case {
    Size size;
    std::int64_t of_here, of_there;
  };
  const Case cases[] = {
      {context() + 7, 57, 77},         {context() - new_tokens(), 46, 68},
      {Size(100) - context(), 50, 30}, {tokens() * 6, 72, 60},
      {Size(6) * tokens(), 72, 60},    {tokens() * context(), 600, 700},
      {context() / 8, 6, 8},           {Size(1000) / context(), 20, 14},
      {ceiling(context(), 8), 7, 9},   {ceiling(context(), 10), 5, 7},
      {tokens() * 2 * 3, 72, 60},      {context() / 8 * 8 + tokens() - 1, 48 + 11, 64 + 9}};
  for (const auto& [size, of_here, of_there] : cases) expect_size(size, of_here, of_there);
}

TEST(Size, of_constants_is_one) {
  EXPECT_EQ((Size(6) + 2).constant(), 8);
  EXPECT_EQ((Size(6) - 2).constant(), 4);
  EXPECT_EQ((Size(6) * 2).constant(), 12);
  EXPECT_EQ((Size(7) / 2).constant(), 3);
  EXPECT_EQ(ceiling(7, 2).constant(), 4);
  EXPECT_THROW((void)tokens().constant(), std::logic_error);
}

TEST(Size, that_nothing_changes_is_the_same_term) {
  const Size t = tokens();
  EXPECT_EQ((t + 0).term(), t.term());
  EXPECT_EQ((t - 0).term(), t.term());
  EXPECT_EQ((t * 1).term(), t.term());
  EXPECT_EQ((Size(1) * t).term(), t.term());
  EXPECT_EQ((t / 1).term(), t.term());
  EXPECT_NE((t + 1).term(), t.term());
  EXPECT_NE((t * 0).term(), t.term());
}

bool same(const Size& a, const Size& b) { return *a.term() == *b.term(); }

TEST(Size, is_known_by_its_calculation) {
  EXPECT_TRUE(same(tokens() * 6, tokens() * 6));
  EXPECT_TRUE(same(tokens() * 2 * 3, tokens() * 6)) << "factors are multiplied";
  EXPECT_TRUE(same(Size(6) * tokens(), tokens() * 6)) << "a constant stands on the right";
  EXPECT_FALSE(same(tokens() * 6, tokens() * 7));
  EXPECT_FALSE(same(tokens() * 6, tokens() + 6));
  EXPECT_FALSE(same(tokens() * 6, context() * 6));
  EXPECT_FALSE(same(tokens() - context(), context() - tokens()));
  EXPECT_FALSE(same(context() / 2 * 3, context() * 3 / 2)) << "rounded at other places";
}

TEST(Size, of_a_function_is_known_by_its_name_and_operands) {
  const auto sum = [](std::span<const std::int64_t> v) { return v[0] + v[1] * 2; };
  const std::array<Size, 2> mixed = {tokens(), 10}, others = {tokens(), 11}, fixed = {4, 10};
  const Size size("sum", sum, mixed);
  expect_size(size, 12 + 20, 10 + 20);
  EXPECT_EQ(size.term()->measures(), mask_of(LoadMeasure::tokens));
  EXPECT_EQ(Size("sum", sum, fixed).constant(), 24);
  EXPECT_TRUE(same(size, Size("sum", sum, mixed)));
  EXPECT_FALSE(same(size, Size("another", sum, mixed)));
  EXPECT_FALSE(same(size, Size("sum", sum, others)));
}

TEST(Size, in_bytes_is_rounded_up_to_whole_ones) {
  EXPECT_EQ(dtype_bytes(Dtype::bf16, Size(7)).constant(), 14);
  EXPECT_EQ(dtype_bytes(Dtype::f32, Size(7)).constant(), 28);
  EXPECT_EQ(dtype_bytes(Dtype::s8, Size(7)).constant(), 7);
  EXPECT_EQ(dtype_bytes(Dtype::f4_e2m1, Size(7)).constant(), 4);
  EXPECT_EQ(dtype_bytes(Dtype::f4_e2m1, Size(8)).constant(), 4);
  expect_size(dtype_bytes(Dtype::f4_e2m1, context() + 1), 26, 36);
}

TEST(Extent, calculates_on_both_sides) {
  const Extent a{10, 4}, b{3, 2};
  const auto expect = [](const Extent& extent, std::int64_t whole, std::int64_t local) {
    EXPECT_EQ(extent.whole.constant(), whole);
    EXPECT_EQ(extent.local.constant(), local);
  };
  expect(a * b, 30, 8);
  expect(a * Size(5), 50, 20);
  expect(a + b, 13, 6);
}

}  // namespace
}  // namespace halmark
