// Copies that a worker kept against the accepted output: equal, within two tolerances, beyond them;
// changed inputs against the reference; and words of a worker that fit nothing.
#include "measure/campaign/gate/kept_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/inputs.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

constexpr std::int64_t rows = 6, cols = 10;
constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);

// Softmax, computed here; set 1 has the same inputs, and the row `changed` may hold another's.
struct Softmax {
  Problem problem = complete_problem(
      {"softmax", {{"rows", rows}, {"cols", cols}, {"src_dtype", f32}, {"dst_dtype", f32}}});
  const OpContract& contract = *find_contract("softmax");
  std::vector<OperandSpec> operands = contract.operands(problem.params);
  StagedInputs inputs{42, operands, CacheMode::rotate_const, true};
  protocol::Revealed revealed;
  std::vector<std::byte> first;
  KeptSeries kept;

  Softmax() {
    first = output(std::nullopt);
    revealed.parts = {{.set = 0, .operand = 1, .offset = 0, .bytes = rows * cols * 4}};
  }
  std::vector<std::byte> output(std::optional<protocol::OverwrittenRow> changed) const {
    std::vector<double> x(rows * cols);
    InputPool(42, operands[0]).read(0, 0, 0, 0, x);
    if (changed) {
      const std::vector<double> plain = x;
      for (std::int64_t r = 0; r < rows; ++r) {
        if (r != changed->row && !changed->whole) continue;
        const std::int64_t from = (r + changed->from_row - changed->row + rows) % rows;
        for (std::int64_t c = 0; c < cols; ++c) {
          x[static_cast<std::size_t>(r * cols + c)] =
              plain[static_cast<std::size_t>(from * cols + (c + changed->shift) % cols)];
        }
      }
    }
    std::vector<std::byte> bytes(rows * cols * 4);
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < cols; ++c) sum += std::exp(x[r * cols + c]);
      for (std::size_t c = 0; c < cols; ++c) {
        const auto value = static_cast<float>(std::exp(x[r * cols + c]) / sum);
        std::memcpy(bytes.data() + (r * cols + c) * 4, &value, 4);
      }
    }
    return bytes;
  }
  protocol::KeptOutput& keep(const std::vector<std::byte>& bytes, std::int64_t begin = 0,
                             std::int64_t count = rows * cols * 4) {
    const auto offset = static_cast<std::int64_t>(kept.bytes.size());
    kept.bytes.insert(kept.bytes.end(), bytes.begin() + begin, bytes.begin() + begin + count);
    kept.outputs.push_back({.sample = static_cast<std::int64_t>(kept.outputs.size()) + 1,
                            .set = 1,
                            .operand = 1,
                            .begin = begin,
                            .bytes = count,
                            .offset = offset});
    return kept.outputs.back();
  }
  KeptResult check() {
    return check_kept(contract, problem, inputs, 0, {CacheMode::rotate_const, true, {}}, kept,
                      {revealed, first}, 5);
  }
};

void set(std::vector<std::byte>& bytes, std::int64_t element, float value) {
  std::memcpy(bytes.data() + element * 4, &value, 4);
}
float get(const std::vector<std::byte>& bytes, std::int64_t element) {
  float value = 0;
  std::memcpy(&value, bytes.data() + element * 4, 4);
  return value;
}

TEST(KeptCheck, equal_copies_are_counted) {
  Softmax s;
  for (int i = 0; i < 7; ++i) s.keep(s.first);
  s.keep(s.first, 80, 40);
  const KeptResult found = s.check();
  EXPECT_TRUE(found.result.ok) << found.result.reason;
  EXPECT_EQ(found.checks.executions, 8);
  EXPECT_EQ(found.checks.rows, 0);
  EXPECT_DOUBLE_EQ(found.checks.share, 40.0 / 240.0);
}

TEST(KeptCheck, one_element_differs_by_two_tolerances_at_most) {
  for (const double tolerances : {1.9, 2.1}) {
    Softmax s;
    std::vector<std::int64_t> elements{37};
    std::vector<Expected> expected(1);
    s.contract.reference(s.problem.params, s.inputs, 0, 1, elements, expected);
    std::vector<std::byte> other = s.first;
    set(other, 37, static_cast<float>(get(s.first, 37) + tolerances * expected[0].tolerance));
    s.keep(s.first);
    s.keep(other);
    const KeptResult found = s.check();
    EXPECT_EQ(found.result.ok, tolerances < 2) << found.result.reason;
    if (tolerances < 2) continue;
    EXPECT_EQ(found.result.status, Status::wrong_result);
    EXPECT_THAT(found.result.reason, HasSubstr("dst[3, 7] of set 1 is "));
    EXPECT_THAT(found.result.reason, HasSubstr("behind sample 2"));
  }
}

TEST(KeptCheck, an_element_in_a_stretch_is_named_by_its_place_in_the_output) {
  Softmax s;
  std::vector<std::byte> other = s.first;
  set(other, 37, 3);
  s.keep(other, 120, 80);  // elements 30 to 49
  EXPECT_THAT(s.check().result.reason, HasSubstr("dst[3, 7]"));
}

TEST(KeptCheck, what_was_not_written_or_is_no_number_is_told_apart) {
  Softmax unwritten;
  std::vector<std::byte> other = unwritten.first;
  std::memset(other.data() + 64, 0xFF, 64);
  unwritten.keep(other);
  EXPECT_EQ(unwritten.check().result.status, Status::wrong_result);
  EXPECT_THAT(unwritten.check().result.reason, HasSubstr("dst[1, 6] of set 1 was not written"));
  Softmax infinite;
  other = infinite.first;
  set(other, 3, std::numeric_limits<float>::infinity());
  infinite.keep(other);
  EXPECT_EQ(infinite.check().result.status, Status::nan_result);
}

TEST(KeptCheck, a_changed_row_has_the_answer_to_its_new_values) {
  const protocol::OverwrittenRow row{.operand = 0, .row = 2, .from_row = 4, .shift = 3};
  Softmax right;
  right.kept.overwritten = {row};
  right.keep(right.output(row), 80, 40).overwritten = 0;
  EXPECT_TRUE(right.check().result.ok) << right.check().result.reason;
  EXPECT_EQ(right.check().checks.rows, 1);
  EXPECT_EQ(right.check().checks.executions, 0);
  Softmax stale;
  stale.kept.overwritten = {row};
  stale.keep(stale.first, 80, 40).overwritten = 0;
  EXPECT_EQ(stale.check().result.status, Status::wrong_result);
  EXPECT_THAT(stale.check().result.reason, HasSubstr("with row 2 of src changed, expected"));
}

// Every row holds another's values: no output of the staged inputs is right, in any row.
TEST(KeptCheck, inputs_that_were_written_anew_have_an_answer_in_every_row) {
  const protocol::OverwrittenRow all{
      .operand = 0, .row = 5, .from_row = 1, .shift = 3, .whole = true};
  for (std::int64_t row = 0; row < rows; ++row) {
    Softmax right;
    right.kept.overwritten = {all};
    right.keep(right.output(all), row * 40, 40).overwritten = 0;
    EXPECT_TRUE(right.check().result.ok) << right.check().result.reason;
    EXPECT_EQ(right.check().checks.redrawn, 1);
    EXPECT_EQ(right.check().checks.rows, 0);
    Softmax stale;
    stale.kept.overwritten = {all};
    stale.keep(stale.first, row * 40, 40).overwritten = 0;
    EXPECT_THAT(stale.check().result.reason, HasSubstr("with all rows of src changed, expected"));
  }
  EXPECT_THAT(kept_method({.redrawn = 3}, "around 9 samples"),
              HasSubstr("inputs rewritten before 3 samples"));
}

TEST(KeptCheck, at_once_asks_for_no_more_than_that_something_was_written) {
  Softmax s;
  s.keep(s.output(protocol::OverwrittenRow{0, 2, 4, 3}), 64, 64).at_once = true;
  EXPECT_TRUE(s.check().result.ok) << s.check().result.reason;
  std::vector<std::byte> poison(240, std::byte{0xFF});
  s.keep(poison, 64, 64).at_once = true;
  EXPECT_THAT(s.check().result.reason, HasSubstr("was not written when wait had returned"));
}

TEST(KeptCheck, words_that_do_not_fit_the_contract_are_refused) {
  const auto refused = [](auto change) {
    Softmax s;
    s.keep(s.first);
    change(s);
    return !s.check().result.ok;
  };
  EXPECT_FALSE(refused([](Softmax&) {}));
  EXPECT_TRUE(refused([](Softmax& s) { s.kept.outputs[0].operand = 0; }));
  EXPECT_TRUE(refused([](Softmax& s) { s.kept.outputs[0].operand = 2; }));
  EXPECT_TRUE(refused([](Softmax& s) { s.kept.outputs[0].operand = -1; }));
  EXPECT_TRUE(refused([](Softmax& s) { s.kept.outputs[0].begin = 4; }));
  EXPECT_TRUE(refused([](Softmax& s) { s.kept.outputs[0].begin = 2; }));
  for (const protocol::OverwrittenRow& row :
       {protocol::OverwrittenRow{1, 0, 1, 0}, protocol::OverwrittenRow{0, rows, 1, 0},
        protocol::OverwrittenRow{0, 0, -1, 0}, protocol::OverwrittenRow{0, 0, 1, cols}}) {
    EXPECT_TRUE(refused([&](Softmax& s) {
      s.kept.overwritten = {row};
      s.kept.outputs[0].overwritten = 0;
    }));
  }
}

TEST(KeptCheck, outputs_are_compared_where_sets_have_the_values_of_the_first) {
  const auto gemm = find_contract("gemm")->operands(complete_problem({"gemm",
                                                                      {{"m", 2},
                                                                       {"n", 2},
                                                                       {"k", 2},
                                                                       {"src_dtype", f32},
                                                                       {"wei_dtype", f32},
                                                                       {"dst_dtype", f32}}})
                                                        .params);
  const auto equal = [&](CacheMode mode, bool shared, std::optional<int> witness, int set) {
    return SetValues{mode, shared, witness}.equal_those_of_first(gemm, set);
  };
  EXPECT_TRUE(equal(CacheMode::rotate_all, false, {}, 0));
  EXPECT_TRUE(equal(CacheMode::rotate_const, true, {}, 3));
  EXPECT_TRUE(equal(CacheMode::rotate_const, true, 2, 3));
  EXPECT_FALSE(equal(CacheMode::rotate_const, true, 3, 3));
  EXPECT_FALSE(equal(CacheMode::rotate_const, false, {}, 3));
  EXPECT_FALSE(equal(CacheMode::rotate_all, true, {}, 3));
}

TEST(KeptCheck, the_method_states_how_sure_it_is) {
  EXPECT_EQ(kept_method({}, "around 100 samples"), "");
  EXPECT_EQ(kept_method({.executions = 44}, "around 500 samples"),
            "44 executions around 500 samples against the first output: a fault of every 10th is "
            "found with 99 %");
  EXPECT_EQ(
      kept_method({.executions = 3, .rows = 2, .share = 0.25}, "behind 3 repetitions"),
      "3 executions behind 3 repetitions against the first output (25 % of it each): a fault of "
      "every 10th is found with 27.1 %, 2 with changed inputs");
}

}  // namespace
}  // namespace halmark
