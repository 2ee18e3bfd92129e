// What `halmark model` prints: the answer first, tables that fit, nothing cut.
// `halmark model --explain`: operators with their numbers, words of the one glossary.
#include <gmock/gmock.h>

#include "pages/step/step_page.hpp"
#include "report/glossary.hpp"
#include "report/views/glossary_view.hpp"
#include "step_fixture.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::pages_test {
namespace {

using pages::step_view;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(StepPage, begins_with_time_mfu_bottleneck_and_fit) {
  const report::View view = step_view(qwen(), {});
  const std::vector<std::string> lines = lines_of_text(view.text);
  // 2.2 GB of weights and cache at 1 TB/s: 8 sequences in 2.2 ms.
  EXPECT_THAT(lines[0], testing::MatchesRegex("3,[0-9]{3} tokens/s at best on round; "
                                              "2\\.[0-9]+ ms a step"));
  EXPECT_THAT(lines[1], testing::MatchesRegex("floor \\(nothing was measured\\); bound by memory, "
                                              "most in .*; MFU at most .* %"));
  EXPECT_THAT(lines[2],
              testing::MatchesRegex("memory of a rank: .* of 74.5 GiB: fits, weights .*; "
                                    "left for the cache .*: [0-9]+ sequences of 8,192 tokens"));
  EXPECT_THAT(lines[3], StartsWith("next: halmark tune qwen3-0.6b --device round"));
  EXPECT_EQ(view.data["answer"]["text"], lines[0]);
  EXPECT_THAT(view.data,
              test::HasValues(R"({"/answer/time_source": "floor", "/answer/fits": true})"));
}

TEST(StepPage, a_measured_step_says_so_and_how_far_from_its_floor_it_is) {
  const std::string text = step_view(qwen(10), {}).text;
  EXPECT_THAT(text, testing::ContainsRegex("^800 tokens/s on round \\(measured, 10.0 ms a step\\): "
                                           "2[0-9] % of the best possible \\(3,"));
  EXPECT_THAT(text, HasSubstr("no operator was timed"));
}

// Twice the floor, held by three halves and three times it.
TEST(StepPage, what_is_expected_stands_with_its_interval_beside_its_bound) {
  const auto expected = [](std::optional<double> measured_ms) {
    PricedStep out = qwen(measured_ms);
    std::vector<Latency> all;
    for (const Operator& op : out.graph.operators) {
      const double ns = operator_floor(out, op)->ns;
      all.push_back({.ns = 2 * ns, .low_ns = 1.5 * ns, .high_ns = 3 * ns});
      all.back().origin = "forecast vllm 0.24.0: gemm bf16 torch VLLM";
    }
    out.expected = std::move(all);
    out.basis = {"forecast vllm 0.24.0: kernels"};
    return out;
  };
  const report::View bound = step_view(qwen(), {}), view = step_view(expected({}), {});
  const Json &then = bound.data["answer"], &now = view.data["answer"];
  const auto floor = then["time_ms"].get<double>();
  EXPECT_EQ(now["time_source"], "expected");
  EXPECT_EQ(now["floor_ms"], then["time_ms"]);
  EXPECT_EQ(now["mfu_pct"], then["mfu_pct"]);
  EXPECT_NEAR(now["time_ms"].get<double>(), 2 * floor, 1e-9);
  EXPECT_NEAR(now["expected_interval_ms"][0].get<double>(), 1.5 * floor, 1e-9);
  EXPECT_NEAR(now["expected_interval_ms"][1].get<double>(), 3 * floor, 1e-9);
  EXPECT_THAT(lines_of_text(view.text).front(),
              testing::MatchesRegex(
                  "1,[0-9]+ tokens/s \\(1,[0-9]+\\.\\.2,[0-9]+\\), forecast on round, at "
                  "best 3,[0-9]+; 4\\.[0-9]+ ms \\(3\\.[0-9]+\\.\\.6\\.[0-9]+ ms\\) a step"));
  EXPECT_THAT(lines_of_text(view.text)[1],
              StartsWith("forecast vllm 0.24.0 100 % (nothing was measured); bound by memory"));
  // Half of the best; two thirds and a third of it at the ends of the time.
  const auto best = now["tokens_per_s_at_best"].get<double>();
  EXPECT_NEAR(now["tokens_per_s"].get<double>() / best, 1.0 / 2, 1e-9);
  EXPECT_NEAR(now["expected_tokens_per_s_interval"][0].get<double>() / best, 1.0 / 3, 1e-9);
  EXPECT_NEAR(now["expected_tokens_per_s_interval"][1].get<double>() / best, 2.0 / 3, 1e-9);
  EXPECT_THAT(view.text, HasSubstr("at best"));
  EXPECT_THAT(view.text, HasSubstr("times: forecast vllm 0.24.0: kernels"));
  EXPECT_EQ(view.data["operators"][0]["expected"]["from"],
            "forecast vllm 0.24.0: gemm bf16 torch VLLM");
  EXPECT_THAT(step_view(expected(10), {}).text,
              AllOf(StartsWith("800 tokens/s on round (measured, 10.0 ms a step): 2"),
                    HasSubstr(" % of the best possible (3,"), HasSubstr(" % of the forecast 1,"),
                    HasSubstr("suspects: "), HasSubstr(" more read")));
}

TEST(StepPage, without_a_device_it_says_what_is_missing_and_shows_work_for_time) {
  const report::View view = step_view(qwen({}, std::nullopt), {});
  EXPECT_THAT(view.text, StartsWith("no time: no device named (--device); a rank computes 11.4 "
                                    "GFLOP"));
  EXPECT_THAT(view.text, HasSubstr("MiB/rank"));
  EXPECT_THAT(view.text, Not(HasSubstr("of time")));
  EXPECT_THAT(view.data, test::HasValues(R"json({"/answer/time_ms": null,
      "/answer/time_ms_reason": "no device named (--device)", "/answer/mfu_pct": null})json"));
}

TEST(StepPage, what_does_not_fit_is_said_in_the_answer) {
  const std::string text = step_view(qwen({}, round_device(1'000'000'000)), {}).text;
  EXPECT_THAT(
      lines_of_text(text).front(),
      StartsWith("does not fit in bf16: needs 1.99 GiB a rank of 954 MiB; fits from 4 devices"));
  EXPECT_THAT(lines_of_text(text)[1], StartsWith("if it fitted: 3,"));
  EXPECT_THAT(text, HasSubstr("short by"));
}

TEST(StepPage, an_impossible_time_has_no_mfu) {
  const report::View view = step_view(qwen(0.001), {});
  EXPECT_THAT(lines_of_text(view.text).front(),
              HasSubstr("quarantined, the step cannot have taken so little"));
  EXPECT_EQ(view.data["answer"]["is_quarantined"], true);
}

class Width : public testing::TestWithParam<int> {};

TEST_P(Width, no_line_is_wider_than_the_terminal_and_no_cell_is_cut) {
  for (const bool shows_all : {false, true}) {
    const std::string text =
        step_view(qwen(10), {.width = GetParam(), .shows_all = shows_all}).text;
    for (const std::string& line : lines_of_text(text)) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(GetParam())) << line;
      EXPECT_EQ(line.find('~'), std::string::npos) << line;
    }
    EXPECT_THAT(text, HasSubstr("gate_up_proj"));
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, Width, testing::Values(80, 120, 200),
                         testing::PrintToStringParamName());

TEST(StepPage, files_have_every_column_and_whole_lines) {
  const std::string all = step_view(qwen(10), {.shows_all = true}).text;
  EXPECT_THAT(all, HasSubstr("[8,1024]"));
  EXPECT_THAT(all, Not(HasSubstr("no room in")));
  EXPECT_THAT(step_view(qwen(10), {.width = 80, .shows_all = true}).text,
              HasSubstr("no room in 80 columns for: "));
}

TEST(StepPage, small_operators_share_a_row_unless_all_are_asked_for) {
  EXPECT_THAT(step_view(qwen(), {}).text, Not(HasSubstr("kv_append")));
  EXPECT_THAT(step_view(qwen(), {}).text, HasSubstr(" small ones)"));
  EXPECT_THAT(step_view(qwen(), {.shows_all = true}).text, HasSubstr("kv_append"));
}

TEST(StepPage, times_of_a_pipeline_are_of_its_busiest_stage) {
  const report::View view = step_view(qwen({}, round_device(), {.pp = 2}), {});
  // The head makes the last stage the busiest.
  EXPECT_THAT(view.text, HasSubstr("of stage 2 of 2, the busiest"));
  EXPECT_THAT(lines_of_text(view.text).front(), HasSubstr(" a step of the busiest stage"));
}

TEST(Explained, a_word_reads_as_halmark_explain_prints_it) {
  EXPECT_EQ(pages::explained(qwen(), "mfu", 100).text,
            report::term_view(report::known_term("mfu"), 100).text);
}

TEST(Explained, an_operator_has_its_formula_with_numbers) {
  // 8 sequences, 2048 x 1024 weights.
  EXPECT_THAT(pages::explained(qwen(), "q_proj", 100).text,
              HasSubstr("2 x 8 x 2048 x 1024 = 33,554,432 FLOPs"));
}

TEST(Explained, what_neither_knows_names_the_nearest_of_both) {
  const auto line = [](const std::string& wanted) {
    return test::error_of([&] { pages::explained(qwen(), wanted, 100); }).line();
  };
  test::expect_each(line, {{"q_prj", "'q_proj'"}, {"mfuu", "'mfu'"}});
  EXPECT_LT(line(std::string(5000, 'x')).size(), 600u) << "long names are cut";
}

TEST(Explained, alone_it_lists_words_and_operators) {
  const std::string text = pages::explainable(qwen(), 100).text;
  EXPECT_THAT(text, HasSubstr("mfu"));
  EXPECT_THAT(text, HasSubstr("lm_head"));
}

}  // namespace
}  // namespace halmark::pages_test
