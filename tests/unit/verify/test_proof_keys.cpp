// Keys of kernels read back, vectors compared, and a space of formulas priced by hand.
#include <gmock/gmock.h>

#include "verify/front_proof/front_proof_dominance.hpp"
#include "verify/front_proof/front_proof_key.hpp"
#include "verify/front_proof/front_proof_space.hpp"

namespace halmark::front_proof {
namespace {

using testing::ElementsAre;

TEST(ProofKeys, are_read_back) {
  KernelCase stacked{.problem = {"gemm", {{"m", 1}, {"n", 64}, {"k", 64}}},
                     .backend = "cpu",
                     .device = "3",
                     .parts = 2,
                     .shards_at_once = 5,
                     .mode = CacheMode::in_stack,
                     .sets = 4,
                     .neighbours = "9f3a2b1c00d4"};
  KernelCase k{.problem = stacked.problem, .backend = "cpu", .device = "3", .mode = CacheMode::hot};
  k.problem.params.set("src_dtype", static_cast<std::int64_t>(Dtype::bf16));
  k.problem.params.set("dtype", static_cast<std::int64_t>(Dtype::s8));
  for (const KernelCase& written : {stacked, k}) {
    EXPECT_EQ(read_kernel_key(written.key()), written);
  }
  k.kernel = "fast";
  ASSERT_TRUE(read_kernel_key(k.key()));
  EXPECT_EQ(read_kernel_key(k.key())->kernel, "fast");
  k.config.params.set("tile", 4);
  EXPECT_EQ(without_choice(k).kernel, "");
  EXPECT_EQ(without_choice(k).config, halmark::Config{});
  EXPECT_EQ(without_choice(k).problem, k.problem);
}

TEST(ProofKeys, have_one_spelling) {
  const auto is_read = [](const char* key) { return read_kernel_key(key).has_value(); };
  EXPECT_TRUE(is_read("gemm k=64 m=1 | - | cpu:0/1x1 | hot:1"));
  EXPECT_TRUE(is_read("all | - | cpu:0/1x1 | hot:1"));
  for (const char* key :
       {"gemm m=1 k=64 | - | cpu:0/1x1 | hot:1",  "gemm k=64 m=01 | - | cpu:0/1x1 | hot:1",
        "gemm k=64 m=1x | - | cpu:0/1x1 | hot:1", "gemm k=64 m | - | cpu:0/1x1 | hot:1",
        "gemm k=64 m=1 | - | cpu:0/1x1",          "gemm k=64 m=1 | - | cpu:0/1x1 | hot:1 | x",
        "gemm k=64 m=1 | - | cpu0/1x1 | hot:1",   "gemm k=64 m=1 | - | cpu:0-1x1 | hot:1",
        "gemm k=64 m=1 | - | cpu:0/11 | hot:1",   "gemm k=64 m=1 | - | cpu/1x1:0 | hot:1",
        "gemm k=64 m=1 | - | cpx:0/1 | hot:1",    "gemm k=64 m=1 | - | cpu:0/0x1 | hot:1",
        "gemm k=64 m=1 | - | cpu:0/1x0 | hot:1",  "gemm k=64 m=1 | - | cpu:0/ax1 | hot:1",
        "gemm k=64 m=1 | - | cpu:0/1xb | hot:1",  "gemm k=64 m=1 | - | cpu:0/1x1 | hot",
        "gemm k=64 m=1 | - | cpu:0/1x1 | hot:0",  "gemm k=64 m=1 | - | cpu:0/1x1 | hot:a",
        "gemm k=64 m=1 | - | cpu:0/1x1 | warm:1", ""}) {
    EXPECT_FALSE(is_read(key)) << key;
  }
}

TEST(ProofKeys, lead_to_the_work_of_a_contract) {
  const auto k = read_kernel_key(
      "gemm dst_dtype=f32 k=32 m=4 n=64 src_dtype=f32 wei_dtype=f32 | - "
      "| cpu:0/1x1 | hot:1");
  ASSERT_TRUE(k);
  const Work work = contract_work(*k);
  EXPECT_EQ(work.matmul_flops, 2.0 * 4 * 64 * 32);
  EXPECT_EQ(work.bytes(), 4.0 * (4 * 32 + 64 * 32 + 4 * 64));
}

TEST(ProofVectors, are_compared_exactly) {
  const struct {
    Vector a, b;
    bool is_as_good, dominates;
  } pairs[] = {{{1, 2}, {1, 2}, true, false},
               {{1, 2}, {1, 3}, true, true},
               {{1, 2}, {2, 1}, false, false},
               {{2, 1}, {1, 2}, false, false}};
  for (const auto& p : pairs) {
    EXPECT_EQ(at_least_as_good(p.a, p.b), p.is_as_good);
    EXPECT_EQ(dominates(p.a, p.b), p.dominates);
  }
  EXPECT_THAT(minimal({{2, 2}, {1, 3}, {3, 1}, {1, 3}, {2, 3}, {4, 4}}),
              ElementsAre(Vector{1, 3}, Vector{2, 2}, Vector{3, 1}));
  EXPECT_THAT(minimal({}), testing::IsEmpty());
}

using Op = Node::Op;
Node number(double value) { return {.op = Op::number, .number = value}; }
Node kernel(std::size_t index) { return {.op = Op::kernel, .index = index}; }
Node of(Op op, std::vector<Node> operands) { return {.op = op, .operands = std::move(operands)}; }

// Domains of two and three levels: combination 3 a + b.
Proof proof_of(std::vector<Node> formulas) {
  Proof out;
  out.space_line = 7;
  out.domains = {{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
  out.kernels.resize(6);
  out.facts = {{.line = 3, .over = {0, 1}, .values = {10, 11, 12, 13, 14, 15}},
               {.line = 4, .over = {1}, .values = {5, 6, 7}}};
  out.slots = {{.line = 5, .over = {1, 0}, .values = {0, 1, 2, 3, 4, 5}}};
  for (std::size_t i = 0; i < formulas.size(); ++i) out.objectives.push_back({"o", false, "ns"});
  out.formulas = std::move(formulas);
  return out;
}

const std::vector<double> times = {100, 200, 300, 400, 500, 600};

TEST(ProofFormulas, are_priced_by_their_operations) {
  const Proof proof = proof_of({of(Op::sum, {kernel(0), number(3), kernel(2)}),
                                of(Op::max, {kernel(0), kernel(3), kernel(1)}),
                                of(Op::min, {kernel(4), kernel(1), kernel(2)}),
                                of(Op::scale, {number(3), kernel(1)}),
                                of(Op::divide, {kernel(5), number(4)}),
                                of(Op::rate, {number(8), kernel(1)}),
                                {.op = Op::fact, .index = 0},
                                {.op = Op::fact, .index = 1},
                                {.op = Op::slot, .index = 0}});
  const ProofSpace space(proof);
  EXPECT_EQ(space.combinations(), 6u);
  EXPECT_EQ(space.configurations(), 6u);
  EXPECT_EQ(space.stride(0), 3u);
  EXPECT_EQ(space.stride(1), 1u);
  EXPECT_EQ(space.level(5, 0), 1u);
  EXPECT_EQ(space.level(5, 1), 2u);
  // a = 1, b = 2: fact 15 and 7; the slot's table is over b and then a: 2 x 2 + 1, kernel 5.
  EXPECT_THAT(space.objectives(5, times), ElementsAre(403, 400, 200, 600, 150, -0.04, 15, 7, 600));
  // a = 0, b = 1: fact 11 and 6, slot 2 x 1 + 0.
  EXPECT_THAT(space.objectives(1, times), ElementsAre(403, 400, 200, 600, 150, -0.04, 11, 6, 300));
  EXPECT_THAT(space.kernels(1), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(space.front(1), 0u);
}

TEST(ProofFormulas, name_each_kernel_once_in_order) {
  const Proof proof =
      proof_of({of(Op::sum, {kernel(4), kernel(1), kernel(4)}), {.op = Op::slot, .index = 0}});
  const ProofSpace space(proof);
  EXPECT_THAT(space.kernels(5), ElementsAre(1, 4, 5));
  EXPECT_THAT(space.kernels(0), ElementsAre(0, 1, 4));
}

std::string refusal(const Proof& proof) {
  try {
    const ProofSpace space(proof);
  } catch (const Broken& e) {
    return std::to_string(e.line) + ": " + e.what();
  }
  return "";
}

TEST(ProofFormulas, may_not_fall_when_a_time_grows) {
  const auto sum = [](double least) { return of(Op::sum, {number(least), number(1)}); };
  const auto least = [](double a, double b) { return of(Op::min, {number(a), number(b)}); };
  const auto divided = [](Node by) { return of(Op::divide, {kernel(0), std::move(by)}); };
  const auto scaled = [](double a, double b) { return of(Op::scale, {number(a), number(b)}); };
  const std::string falls = "7: the formula may fall when a time grows: ",
                    factor = falls + "a factor that is no number >= 0",
                    divisor = falls + "a divisor that is no number > 0",
                    negative = falls + "a rate over what may be negative",
                    two = "7: an operation without two operands";
  const std::pair<Node, std::string> formulas[] = {
      {of(Op::scale, {number(0), kernel(0)}), ""},
      {of(Op::scale, {sum(0), kernel(0)}), ""},
      {of(Op::scale, {sum(-0.5), kernel(0)}), factor},
      {divided(sum(0)), ""},  // one of them is above 0
      {divided(least(1, 2)), ""},
      {divided(least(0, 2)), divisor},
      {divided(least(2, 0)), divisor},
      {divided(scaled(2, 3)), ""},
      {divided(scaled(0, 3)), divisor},
      {divided(of(Op::divide, {number(2), number(3)})), ""},
      {divided(of(Op::max, {kernel(1), number(3)})), divisor},
      {divided({.op = Op::fact, .index = 1}), ""},
      {divided({.op = Op::slot, .index = 0}), divisor},
      {of(Op::rate, {number(0), kernel(0)}), ""},
      {of(Op::rate, {number(-1), kernel(0)}), falls + "an amount that is no number >= 0"},
      {of(Op::rate, {number(1), of(Op::max, {number(-1), number(-2)})}), negative},
      {of(Op::rate, {number(1), scaled(1, -2)}), negative},
      {of(Op::sum, {of(Op::rate, {number(1), kernel(0)}), number(1)}), ""},
      {of(Op::scale, {of(Op::rate, {number(1), number(1)}), number(1)}), factor},
      {of(Op::sum, {}), "7: an operation without operands"},
      {of(Op::scale, {number(1)}), two},
      {of(Op::rate, {number(1), number(1), number(1)}), two},
      {kernel(5), ""},
      {kernel(6), "7: names an unknown kernel"}};
  for (const auto& [formula, said] : formulas) EXPECT_EQ(refusal(proof_of({formula})), said);
}

// a is a number, b a word; what breaks a rule is no configuration.
TEST(ProofSpaces, hold_what_breaks_no_constraint) {
  Proof proof = proof_of({kernel(0)});
  proof.constraints = {{"words", "b != \"y\" or a > 1"}, {"stated", ""}, {"size", "a + 1 < 3"}};
  const ProofSpace space(proof);
  EXPECT_EQ(space.configurations(), 2u);
  for (std::uint64_t c = 0; c < 6; ++c) EXPECT_EQ(space.is_valid(c), c == 0 || c == 2) << c;
  EXPECT_EQ(space.breaks(1, 0), true);
  EXPECT_EQ(space.breaks(1, 1), std::nullopt);
  EXPECT_EQ(space.breaks(1, 2), false);
  EXPECT_EQ(space.breaks(4, 0), false);
  EXPECT_EQ(space.breaks(4, 2), true);
  proof.constraints = {{"odd", "a +"}};
  EXPECT_THAT(refusal(proof), testing::StartsWith("7: "));
}

TEST(ProofSpaces, have_a_value_in_each_domain_and_at_most_16_million_combinations) {
  Proof proof = proof_of({kernel(0)});
  proof.domains[1].values.clear();
  EXPECT_EQ(refusal(proof), "7: domain 'b' has no value");
  proof = proof_of({});
  proof.facts.clear();
  proof.slots.clear();
  proof.domains = {{"a", std::vector<std::string>(1 << 12, "1")},
                   {"b", std::vector<std::string>((1 << 12) + 1, "1")}};
  EXPECT_EQ(refusal(proof), "7: more combinations than can be listed");
  proof.domains[1].values.pop_back();
  EXPECT_EQ(refusal(proof), "");
}

// Configurations that each have formulas of their own.
TEST(ProofSpaces, of_listed_configurations_hold_these_alone) {
  Proof proof = proof_of({});
  proof.objectives = {{"o", false, "ns"}};
  proof.fronts = {"f", "g"};
  proof.configs[{0, 1}] = {.line = 9, .front = 0, .objectives = {kernel(1)}};
  proof.configs[{1, 2}] = {.line = 10, .front = 1, .objectives = {number(4)}};
  {
    const ProofSpace space(proof);
    EXPECT_EQ(space.configurations(), 2u);
    for (std::uint64_t c = 0; c < 6; ++c) EXPECT_EQ(space.is_valid(c), c == 1 || c == 5) << c;
    EXPECT_THAT(space.objectives(1, times), ElementsAre(200));
    EXPECT_THAT(space.objectives(5, times), ElementsAre(4));
    EXPECT_EQ(space.front(5), 1u);
  }
  proof.constraints = {{"stated", ""}, {"small", "a < 2"}};
  EXPECT_EQ(refusal(proof), "10: breaks constraint 'small'");
  proof.constraints.clear();
  proof.configs[{1, 2}].objectives.clear();
  EXPECT_EQ(refusal(proof), "10: there is not one formula per objective");
}

}  // namespace
}  // namespace halmark::front_proof
