#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

namespace halmark {
namespace {

const KernelCase question{
    .problem = {"gemm", {{"m", 4}, {"n", 8}, {"src_dtype", 2}}}, .backend = "cpu", .sets = 4};

const Variant panel{.kernel = "panel", .is_default = true};
const Variant library{.kernel = "library"};
const Variant packed{.kernel = "library", .config = {.params = {{"packed", 0}}}};

// Three processes with these medians.
void add_rounds(std::vector<Measurement>& rows, const Variant& variant,
                std::initializer_list<double> medians_ns, Status status = Status::ok) {
  for (const double ns : medians_ns) {
    Measurement m;
    m.kernel_case = variant_case(question, variant);
    m.status = status;
    m.reason = status == Status::ok ? "" : "load";
    m.duration_ns_median = ns;
    m.duration_ns_interval = {ns, ns};
    m.samples = {{.wall_ns = ns}};
    m.plugin_hash = "aa";
    m.implementation.name = variant.kernel;
    rows.push_back(m);
  }
}

std::vector<std::string> tied_of(const Winner& winner) {
  std::vector<std::string> out;
  for (const VariantTime& v : winner.variants) {
    if (v.is_tied) out.push_back(v.variant.text());
  }
  return out;
}

Winner judged(const std::vector<Measurement>& rows) {
  const std::vector<Variant> all{panel, library, packed};
  const auto winner = judge_variants(question, all, rows);
  EXPECT_TRUE(winner);
  return winner.value_or(Winner{});
}

TEST(JudgeVariants, a_variant_apart_from_all_others_wins_alone) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {100, 101, 102});
  add_rounds(rows, library, {80, 81, 82});
  add_rounds(rows, packed, {90, 91, 92});
  const Winner w = judged(rows);
  EXPECT_THAT(tied_of(w), testing::ElementsAre("library"));
  EXPECT_EQ(w.chosen, library);
  EXPECT_EQ(w.plugin_hash, "aa");
  ASSERT_EQ(w.variants.size(), 3u);
  EXPECT_EQ(w.variants[0].ns, 81);
  EXPECT_EQ(w.variants[1].variant, packed);
  EXPECT_EQ(w.variants[2].variant, panel);
}

TEST(JudgeVariants, overlapping_intervals_are_ties_and_the_default_stays) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {84, 90, 96});
  add_rounds(rows, library, {80, 82, 85});
  add_rounds(rows, packed, {86, 88, 89});
  const Winner w = judged(rows);
  EXPECT_THAT(tied_of(w), testing::ElementsAre("library", "panel"));
  EXPECT_EQ(w.chosen, panel);
}

TEST(JudgeVariants, among_ties_without_the_default_the_fastest_is_taken) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {200, 201, 202});
  add_rounds(rows, library, {80, 82, 90});
  add_rounds(rows, packed, {79, 81, 89});
  const Winner w = judged(rows);
  EXPECT_EQ(w.tied(), 2u);
  EXPECT_EQ(w.chosen, packed);
}

TEST(JudgeVariants, wrong_results_have_no_time_and_noise_makes_the_winner_suspect) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {50, 50, 50}, Status::wrong_result);
  add_rounds(rows, library, {80, 81, 82}, Status::invalid);
  add_rounds(rows, packed, {90, 91, 92});
  const Winner w = judged(rows);
  ASSERT_EQ(w.variants.size(), 2u);
  EXPECT_EQ(w.chosen, library);
  EXPECT_EQ(w.status, Status::suspect);
  EXPECT_THAT(w.reason, testing::HasSubstr("library: only noisy measurements: load"));
}

TEST(JudgeVariants, the_order_in_which_variants_are_named_changes_nothing) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {100, 101, 102}, Status::suspect);
  add_rounds(rows, library, {80, 81, 82});
  add_rounds(rows, packed, {90, 91, 92}, Status::invalid);
  const auto backwards =
      judge_variants(question, std::vector<Variant>{packed, library, panel}, rows);
  EXPECT_EQ(dump_json(Json(judged(rows))), dump_json(Json(backwards.value())));
}

TEST(JudgeVariants, without_any_time_there_is_no_winner) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {50}, Status::crashed);
  EXPECT_EQ(judge_variants(question, std::vector<Variant>{panel}, rows), std::nullopt);
}

TEST(WinnerKey, names_problem_device_cut_and_mode_and_not_the_ring) {
  EXPECT_EQ(winner_key(question), "gemm m=4 n=8 src_dtype=f32 | cpu:0/1x1 | rotate_const");
  KernelCase other = question;
  other.sets = 9;
  EXPECT_EQ(winner_key(other), winner_key(question));
  other.parts = other.shards_at_once = 2;
  EXPECT_NE(winner_key(other), winner_key(question));
  other = question;
  other.mode = CacheMode::hot;
  EXPECT_NE(winner_key(other), winner_key(question));
}

TEST(WinnerTable, names_the_kernel_where_something_beats_the_default) {
  WinnerTable table;
  table.add({.question = question, .chosen = packed});
  KernelCase wanted = question;
  wanted.sets = 2;
  EXPECT_EQ(table.with_winner(wanted), variant_case(wanted, packed));
  KernelCase named = wanted;
  named.kernel = "panel";
  EXPECT_EQ(table.with_winner(named), named);
  KernelCase other = wanted;
  other.problem.params.set("m", 5);
  EXPECT_EQ(table.with_winner(other), other);
  table.add({.question = question, .chosen = panel});
  EXPECT_EQ(table.with_winner(wanted), wanted) << "the later winner counts, and it is the default";
  EXPECT_EQ(table.size(), 1u);
}

TEST(WinnerJson, reads_back_whole) {
  std::vector<Measurement> rows;
  add_rounds(rows, panel, {84, 90, 96}, Status::suspect);
  add_rounds(rows, packed, {80, 82, 85});
  const Winner w = judged(rows);
  const Winner back = parse_json(dump_json(Json(w)), "w").get<Winner>();
  EXPECT_EQ(dump_json(Json(back)), dump_json(Json(w)));
  EXPECT_EQ(back.chosen, w.chosen);
  EXPECT_EQ(back.status, Status::suspect);
  EXPECT_EQ(back.variants.at(0).variant, packed);
}

}  // namespace
}  // namespace halmark
