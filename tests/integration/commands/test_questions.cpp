// What people ask of `halmark model`, as they type it: the first lines hold the answer, and each
// figure is one that a hand comes to.
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

Arguments words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

struct Question {
  const char* name;
  const char* line;
  std::vector<const char*> lines;  // expressions, one for each of the first lines
  int exit_code = 0;
};

void PrintTo(const Question& question, std::ostream* out) { *out << question.line; }

class Questions : public HalmarkTest, public testing::WithParamInterface<Question> {};

TEST_P(Questions, are_answered_in_the_first_lines) {
  const Outcome o = halmark(words(GetParam().line));
  EXPECT_EQ(o.exit_code, GetParam().exit_code) << o.err;
  std::istringstream text(GetParam().exit_code == 2 ? o.err : o.out);
  for (const char* expression : GetParam().lines) {
    std::string line;
    std::getline(text, line);
    EXPECT_TRUE(std::regex_search(line, std::regex(expression)))
        << line << "\n  is not " << expression;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Questions,
    testing::Values(
        Question{
            "too_large",
            "model llama-3.3-70b --device rtx-4090 --tp 2",
            {"^does not fit in bf16: needs 65\\.9 GiB a rank of 23\\.5 GiB; fits from 8 devices "
             "\\(tp8\\), or on 2 in w4a16$",
             "^in w4a16: [0-9.]+ tokens/s \\([0-9.]+\\.\\.[0-9.]+\\), forecast on 2 x rtx-4090 "
             "\\(tp2\\), at "
             "best [0-9.]+; ",
             "^if it fitted: [0-9.]+ tokens/s"}},
        Question{"a_load_without_a_forecast",
                 "model llama-3.1-8b --device gaudi3 --devices 1 --concurrency 8 --input 1000 "
                 "--output 200",
                 {"^TTFT [0-9.]+ ms, TPOT [0-9.]+ ms, [0-9,.]+ tokens/s, at best: bounds, no "
                  "forecast$"}},
        Question{"is_35_good",
                 "model llama-3.1-8b --device rtx-4090 --tokens-per-s 35",
                 {"^35\\.0 tokens/s on rtx-4090 \\(measured, 28\\.6 ms a step\\): 53 % of the best "
                  "possible \\(66\\.[0-9]\\), [0-9]+ % of the forecast [0-9.]+ tokens/s"}},
        Question{"much_slower_than_forecast",
                 "model llama-3.1-8b --device rtx-4090 --tokens-per-s 10",
                 {"^10\\.0 tokens/s .*: 15 % of the best",
                  "^slower than the forecast's interval: "
                  "suspects: .* of host time a kernel .*, .* more read .*lower clocks"}},
        Question{
            "does_it_fit",
            "model gpt-oss-120b --device h100",
            {"^[0-9]+ tokens/s \\(.*\\), forecast on h100-sxm, at best", "nothing was measured",
             "^memory of a rank: 60\\.8 GiB of 79\\.2 GiB: fits, weights 60\\.8 GiB.*; left for "
             "the cache "
             ".* "
             "GiB: [0-9]+ sequences of 8,192 tokens$",
             "^next: halmark tune gpt-oss-120b --device h100-sxm --devices 1"}},
        Question{"four_bits",
                 "model llama-3.1-8b --dtype int4 --device rtx-3090",
                 {"^[0-9.]+ tokens/s .*on rtx-3090, at best 19[0-9]; ", "bound by memory",
                  "weights 5\\.[0-9]+ GiB \\(w4a16: 4 bits, group 128\\); left for the cache"}},
        Question{"a_long_prompt",
                 "model llama-4-scout --device h200 --tp 8 --phase prefill --new-tokens 1000000",
                 {"^41\\.[0-9] s \\(.* s\\) to the first token, 24,[0-9]{3} prompt tokens/s "
                  ".*forecast on "
                  "8 x h200 \\(tp8\\), at best",
                  "bound by compute, most in attention", "^memory of a rank: .* of 140 GiB: fits"}},
        Question{"longest_context",
                 "model qwen3-32b --device h100 --tp 2 --batch 16 --max-context",
                 {"^a context of [0-9]{2},[0-9]{3} tokens fits for 16 sequences on 2 x h100-sxm "
                  "\\(tp2\\); limited by "
                  "memory$",
                  "^[0-9]+ tokens/s .*forecast on 2 x h100-sxm"}},
        Question{"longest_context_of_the_model",
                 "model qwen3-32b --device h100 --tp 2 --max-context",
                 {"^a context of 40,960 tokens fits for 1 sequence on 2 x h100-sxm \\(tp2\\); "
                  "limited by "
                  "max_position_embeddings$"}},
        Question{"longest_context_without_device",
                 "model qwen3-32b --max-context",
                 {"--max-context is of decode on a device"},
                 2},
        Question{"more_bandwidth",
                 "model llama-3.1-8b --device h100 --what-if bandwidth=+20%",
                 {"^bandwidth=\\+20%: [0-9.]+ tokens/s \\(.*\\) on h100-sxm become [0-9.]+ "
                  "tokens/s \\(.*\\), "
                  "\\+1[0-9.]+ %; .* a step become ",
                  "^forecast vllm .*bound by memory"}},
        Question{"no_change",
                 "model llama-3.1-8b --device h100 --what-if bandwidth=20",
                 {"'bandwidth=20' is no change of a ceiling"},
                 2},
        Question{"more_devices",
                 "model llama-3.3-70b --device h100 --devices 4",
                 {"^[0-9.]+ tokens/s \\(.*\\), forecast on 4 x h100-sxm \\(tp4\\), at best"}},
        Question{"more_devices_of_which_none_fit",
                 "model llama-3.3-70b --device rtx-4090 --devices 2",
                 {"^does not fit in bf16: .*fits from 8 devices", "^in w4a16: "}},
        Question{
            "requests",
            "model meta-llama/Llama-3.3-70B-Instruct --device h100 --devices 4 --concurrency 32 "
            "--input 2000 --output 500",
            {"^TTFT [0-9.]+ m?s \\(.*\\), TPOT [0-9.]+ ms \\(.*\\), [0-9,.]+ tokens/s \\(.*\\), "
             "forecast, at best [0-9,]+$",
             "^on 4 x h100-sxm as x32 t[0-9]+ bf16 .*tp[0-9], the most tokens/s of [0-9]+ that "
             "fit; 32 "
             "requests at a time of 2,000 \\+ 500 tokens$",
             "^memory of a rank: .* of 79\\.2 GiB"}},
        Question{"requests_without_length",
                 "model qwen3-32b --device h100 --devices 4 --concurrency 32 --input 2000",
                 {"add --output TOKENS$"},
                 2},
        Question{"requests_and_a_step",
                 "model qwen3-32b --device h100 --concurrency 32 --input 2000 --output 5 --batch 4",
                 {"leave out --phase, --batch"},
                 2},
        Question{"requests_that_do_not_fit",
                 "model llama-3.3-70b --device rtx-4090 --devices 2 --concurrency 8 --input 2000 "
                 "--output 100",
                 {"^does not fit on 2 x rtx-4090", "out_of_memory"}},
        Question{"devices_that_no_layout_takes",
                 "model llama-3.3-70b --device h100 --devices 4 --tp 3",
                 {"device_count_mismatch"},
                 2},
        Question{"without_bf16",
                 "model llama-3.1-8b --device v100",
                 {"^[0-9.]+ tokens/s \\(.*\\), 98 % of it bounds, on v100 in f16, as it has no "
                  "bf16, at best",
                  "bound by memory", "^memory of a rank: 15\\.1 GiB of 31\\.7 GiB: fits"}},
        Question{
            "without_bf16_and_too_large",
            "model llama-3.1-8b --device t4",
            {"^does not fit in f16: needs 15\\.1 GiB a rank of 14\\.6 GiB; fits from 2 devices",
             "^in w8a16: .* tokens/s .* on t4, at best"}},
        Question{"without_bf16_on_a_cpu",
                 "model qwen3-0.6b --device raspberry-pi-5",
                 {"^[0-9.]+ tokens/s at best on raspberry-pi-5 in f16, as it has no bf16"}},
        Question{"bf16_by_name_stays",
                 "model llama-3.1-8b --device v100 --dtype bf16",
                 {"^no time: v100 states no peak or bandwidth that 'q_proj' needs"}},
        Question{"which_device",
                 "compare-devices h100 h200 --model llama-3.3-70b --devices 4 --price h200=3.6",
                 {"^(undecided: h200 has|h200 is ahead:) 1\\.[0-9]+ times the tokens/s per device "
                  "of h100-sxm \\([0-9.]+\\.\\.[0-9.]+\\)$",
                  "^h100-sxm as x[0-9]+ t.* [0-9]+ \\(.*\\) tokens/s per device, TPOT .* ms, TTFT "
                  ".* m?s, [0-9.]+ J/token$",
                  "^h200 as x[0-9]+ t.* J/token, [01]\\.[0-9]+ USD/M tokens$",
                  "^llama-3.3-70b on 4 of each: requests of 1000 \\+ 200 tokens, 20 tokens/s a "
                  "user or more$"}},
        Question{"which_device_for_a_large_model",
                 "compare-devices mi300x h200 --model deepseek-v3",
                 {"^(undecided: )?(mi300x|h200) (is ahead: |has )[0-9.]+ times the tokens/s per "
                  "device of (mi300x|h200) \\([0-9.]+\\.\\.[0-9.]+\\)$",
                  "^mi300x as ", "^h200 as ", "^deepseek-v3 on 8 of each"}},
        Question{
            "which_device_by_bounds",
            "compare-devices gaudi3 h200 --model llama-3.1-8b",
            {"^h200: 1\\.[0-9]+ times the tokens/s per device of gaudi3 at best: bounds decide",
             "^gaudi3 as ", "^h200 as ", "^llama-3.1-8b on 1 of each"}},
        Question{"which_device_of_which_one_is_too_small",
                 "compare-devices rtx-4090 h200 --model llama-3.3-70b --devices 1",
                 {"does not fit on 1 x rtx-4090"},
                 2},
        Question{"which_device_for_requests_longer_than_the_model",
                 "compare-devices h100 h200 --model llama-3.1-8b --input 200000",
                 {"context_exceeds_model: context 200200 exceeds max_position_embeddings 131072"},
                 2},
        Question{"requests_longer_than_the_model",
                 "model llama-3.1-8b --device h100 --concurrency 4 --input 200000 --output 200",
                 {"context_exceeds_model: context 200200 exceeds max_position_embeddings 131072"},
                 2},
        Question{"a_search_of_requests_longer_than_the_model",
                 "tune llama-3.1-8b --device h100 --input 131000",
                 {"context_exceeds_model: context 131200 exceeds max_position_embeddings 131072"},
                 2},
        Question{"which_device_at_a_level_that_none_keeps",
                 "compare-devices h100 h200 --model llama-3.3-70b --tpot 1ms",
                 {"no configuration keeps every level; nearest: "},
                 2},
        Question{"a_simulated_step_that_does_not_fit",
                 "simulate llama-3.3-70b --device rtx-4090 --runs 0",
                 {"^does not fit in bf16: needs 132 GiB a rank of 23\\.5 GiB; fits from 8 devices "
                  "\\(tp8\\)",
                  "^if it fitted: [0-9.]+ ms a step: .* tokens/s"}},
        Question{
            "how_many_for_users",
            "plan-size deepseek-v3 --device mi300x --users 500",
            {"^[0-9]+ x mi300x serve 500 users at a time .* busy; [0-9]+ keep it with 90 % "
             "probability$",
             "^each: .*TTFT [0-9]+ ms .* at [0-9]+ requests at a time \\(all begin at once, and "
             "each asks again as it is answered\\); interactivity >= 20\\.0 tokens/s per user "
             "\\(assumed: no --slo\\)$",
             "^1 day: .*energy"}},
        // 705.5 devices at 40 %: times 4/3, and times 4/5.
        Question{
            "how_many_for_training",
            "plan-size llama-3.1-8b --device h100 --tokens 15e12 --days 30",
            {"^706 x h100-sxm for 29\\.98 days: .*; at 40 % MFU, which is assumed: 941 at 30 %, "
             "565 at 50 %$",
             "^training llama-3.1-8b on 1\\.5e\\+13 tokens"}},
        Question{"how_many_at_levels_and_a_price",
                 "plan-size llama-3.1-8b --device h100 --users 50 --ttft 1s --tpot 40ms --price "
                 "h100=2.5",
                 {"^1 x h100-sxm serve 50 users", "; TTFT <= 1000 ms, TPOT <= 40\\.0 ms$",
                  "^1 day: 24 device-hours, energy .*, cost 60 USD"}},
        Question{"how_many_at_a_price_of_another_device",
                 "plan-size llama-3.1-8b --device h100 --users 50 --price h200=2.5",
                 {"^halmark: --price: the load is of h100-sxm, not of h200$"},
                 2},
        Question{"how_many_for_requests_longer_than_the_model",
                 "plan-size llama-3.1-8b --device h100 --users 5 --input 200000",
                 {"^halmark: .*context_exceeds_model: context 200200 exceeds"},
                 2},
        Question{
            "the_least_device_for_a_rate",
            "plan-size llama-3.1-8b --require --slo ttft_ms=500 --requests-per-s 5",
            {"^halmark: --require: --requests-per-s says nothing of the least device; .*--users"},
            2},
        Question{"the_least_device_for_users",
                 "plan-size llama-3.1-8b --require --ttft 500ms --users 5",
                 {"^llama-3.1-8b: 5 requests of 1000 \\+ 200 tokens at a time on 1 device$"}},
        Question{
            "a_mix_in_the_words_of_the_others",
            "plan-mix llama-3.1-8b --devices h100,l4 --requests-per-s 5 --price h100=2.5,l4=0.8 "
            "--tpot 50ms",
            {"^llama-3\\.1-8b: the cheapest mix costs 2\\.50 USD/h$"}},
        Question{"a_model_by_another_name", "models llama-3.3-70b", {"", "^llama-3\\.1-70b "}},
        Question{"a_kernel_is_no_model",
                 "tune mykernel.cu",
                 {"'mykernel.cu' is a kernel's source, not a sweep or model; halmark judge "
                  "mykernel.cu --op OP"},
                 2},
        Question{"a_search_on_several_devices",
                 "tune qwen3-32b --device h200,mi300x",
                 {"halmark compare-devices h200 mi300x --model qwen3-32b$"},
                 2},
        Question{"a_search_in_4_bits",
                 "tune qwen3-8b --device h100 --dtype int4",
                 {"^qwen3-8b-1x-h100", "^choice \\(\\*\\): point [0-9]+, x[0-9]+ t[0-9]+ w4a16 "}},
        Question{"two_measurements",
                 "model llama-3.1-8b --device rtx-4090 --tokens-per-s 35 --measured-ms 28",
                 {"--measured-ms and --tokens-per-s are one measurement"},
                 2},
        Question{"no_rate",
                 "model llama-3.1-8b --device rtx-4090 --tokens-per-s 0",
                 {"--tokens-per-s is no rate"},
                 2},
        Question{"a_name_is_suggested_once",
                 "--all",
                 {"unknown option '--all'; did you mean '--allow-insecure-plugin'\\?$"},
                 2},
        Question{"a_device_by_another_word",
                 "model qwen3-32b --gpu h100",
                 {"^halmark: unknown option '--gpu'; did you mean '--device'\\?$"},
                 2},
        Question{"a_count_by_another_word",
                 "tune qwen3-32b --device h100 --tensor-parallel 4 --num-gpus 4",
                 {"^halmark: unknown option '--tensor-parallel'; "},
                 2},
        Question{"a_prompt_by_another_word",
                 "simulate serving qwen3-32b --device h100 --isl=1000",
                 {"^halmark: unknown option '--isl'; did you mean '--input'\\?$"},
                 2},
        Question{"a_type_by_another_word",
                 "model qwen3-32b --device h100 --quantization fp8",
                 {"^halmark: unknown option '--quantization'; did you mean '--dtype'\\?$"},
                 2},
        Question{"a_batch_by_another_word",
                 "tune qwen3-32b --device h100 --max-num-seqs 8",
                 {"^halmark: unknown option '--max-num-seqs'; did you mean '--concurrency'\\?$"},
                 2},
        Question{"a_model_as_an_option",
                 "model --model qwen3-32b --device h100",
                 {"it is a word without an option: halmark model MODEL$"},
                 2},
        Question{"an_option_that_nothing_is_near",
                 "model qwen3-32b --zzzzzzzz 1",
                 {"^halmark: unknown option '--zzzzzzzz'; see halmark model --help$"},
                 2},
        Question{"a_parameter_as_an_option",
                 "bench --op gemm --m 64",
                 {"^halmark: unknown option '--m'; did you mean '--params m=64'\\?$"},
                 2},
        Question{"a_parameter_as_a_word",
                 "bench --op gemm m=64",
                 {"^halmark: unexpected argument 'm=64'; did you mean '--params m=64'\\?$"},
                 2},
        Question{"an_op_as_a_word",
                 "bench gemm",
                 {"^halmark: unexpected argument 'gemm'; did you mean '--op gemm'\\?$"},
                 2},
        Question{"prices_of_other_devices",
                 "plan-size llama-3.1-8b --device h100 --users 50 --price h100=2,l4=1",
                 {"^halmark: --price: 'h100=2,l4=1' is a list, .*halmark plan-mix"},
                 2},
        Question{"a_type_that_there_is_not",
                 "tune qwen3-32b --device h100 --dtype nosuch",
                 {"^halmark: unknown dtype 'nosuch'; known: "},
                 2},
        Question{"an_image_of_nothing",
                 "tune qwen3-32b --device h100 --image repo/vllm",
                 {"^halmark: --image is of what is exported, and no format is named; add --as"},
                 2},
        Question{"a_plan_that_is_brief",
                 "tune quickstart --plan --brief",
                 {"--brief excludes --plan|--plan excludes --brief"},
                 2}),
    [](const auto& info) { return std::string(info.param.name); });

using QuestionsOfBench = HalmarkTest;

TEST_F(QuestionsOfBench, a_usual_problem_is_assumed_and_said_behind_the_answer) {
  const Outcome o =
      halmark(words("bench --op copy --backend fake --rounds 1 --seconds 0.001 --no-store"));
  EXPECT_NE(o.exit_code, 2) << o.err;
  std::istringstream text(o.out);
  std::string first, second;
  std::getline(text, first);
  std::getline(text, second);
  EXPECT_TRUE(std::regex_search(first, std::regex("copy: .*B/s|no time: "))) << first;
  EXPECT_EQ(second, "assumed: --params bytes=16777216 --dtype f32");
}

class ModelFigures : public HalmarkTest {};

// Decode reads every weight but the table of embeddings, and the cache, once: 1,008 GB/s.
TEST_F(ModelFigures, tokens_of_a_second_are_bandwidth_over_bytes) {
  const Json d = data_of(words("model llama-3.1-8b --device rtx-4090 --tokens-per-s 35"));
  const double bytes = 2 * 7'504'924'672.0 + 1024 * 131'072.0;
  const Json& answer = d["answer"];
  EXPECT_NEAR(answer["tokens_per_s_at_best"].get<double>() / (1008e9 / bytes), 1, 0.01);
  EXPECT_NEAR(answer["share_of_best_pct"].get<double>(), 100 * 35 / (1008e9 / bytes), 1);
  EXPECT_NEAR(answer["time_ms"].get<double>(), 1e3 / 35, 1e-9);
  EXPECT_NEAR(answer["share_of_expected_pct"].get<double>(),
              100 * 35 * answer["expected_ms"].get<double>() / 1e3, 1e-6);
}

TEST_F(ModelFigures, a_batch_gives_as_many_tokens_a_step) {
  const Json a = data_of(words("model qwen3-32b --device h100 --tp 2 --batch 16"))["answer"];
  EXPECT_NEAR(a["tokens_per_s"].get<double>(), 16e3 / a["time_ms"].get<double>(), 1e-6);
  EXPECT_NEAR(a["expected_tokens_per_s_interval"][0].get<double>(),
              16e3 / a["expected_interval_ms"][1].get<double>(), 1e-6);
}

// One sequence has to pass all four stages before its next token.
TEST_F(ModelFigures, a_lone_sequence_in_a_pipeline_waits_for_every_stage) {
  const std::string line = "model llama-3.3-70b --device h100 --latency roofline --pp ";
  const Json staged = data_of(words(line + "4"))["answer"];
  const Json whole = data_of(words(line + "1"))["answer"];
  EXPECT_NEAR(staged["tokens_per_s"].get<double>() / whole["tokens_per_s"].get<double>(), 1, 0.02);
}

// 70.55 billion weights of two bytes over two, four and eight cards.
TEST_F(ModelFigures, what_is_too_large_says_how_many_devices_hold_it) {
  const Json d = data_of(words("model llama-3.3-70b --device rtx-4090 --tp 2"));
  const double weights = 2 * 70'553'706'496.0;
  EXPECT_GT(weights / 4, 24 * gib);
  EXPECT_LT(weights / 8, 0.9 * 23.5 * gib);
  EXPECT_EQ(d["fit"]["least_layout"]["tp"], 8);
  EXPECT_GT(weights / 2 / 2, 23.5 * gib) << "8 bits are too many";
  EXPECT_EQ(d["answer"]["narrower"]["precision"], "w4a16");
  const Json alone =
      data_of(words("model llama-3.3-70b --device rtx-4090 --tp 2 --dtype w4a16"))["answer"];
  EXPECT_EQ(d["answer"]["narrower"]["tokens_per_s"], alone["tokens_per_s"]);
}

// All bytes at 1.2 times the bandwidth: at best 1.2 times the tokens, and no more of what is
// likely.
TEST_F(ModelFigures, bandwidth_scales_what_waits_for_it) {
  const Json a =
      data_of(words("model llama-3.1-8b --device h100 --what-if bandwidth=+20%"))["answer"];
  const auto figure = [](const Json& of, const char* name) { return of[name].get<double>(); };
  EXPECT_NEAR(figure(a, "tokens_per_s_at_best") / figure(a["before"], "tokens_per_s_at_best"), 1.2,
              0.001);
  const double gain = figure(a, "tokens_per_s") / figure(a["before"], "tokens_per_s");
  EXPECT_GT(gain, 1.1);
  EXPECT_LT(gain, 1.2);
  const Json plain = data_of(words("model llama-3.1-8b --device h100"))["answer"];
  EXPECT_EQ(a["before"]["tokens_per_s"], plain["tokens_per_s"]);
  const Json peak = data_of(words("model llama-3.1-8b --device h100 --what-if peak=x4"))["answer"];
  EXPECT_NEAR(figure(peak, "tokens_per_s") / figure(plain, "tokens_per_s"), 1, 0.02);
}

// 2 x 8 heads x 128 x 64 layers x 2 bytes a token, over two cards, beside 32.8 billion weights.
TEST_F(ModelFigures, the_longest_context_fills_the_memory) {
  const Json d = data_of(words("model qwen3-32b --device h100 --tp 2 --batch 16 --max-context"));
  const double tokens = d["answer"]["max_context"]["tokens"].get<double>();
  const double of_rank = 16 * tokens * 2 * 8 * 128 * 64 * 2 / 2;
  const Json& engine = d["fit"]["engine"];
  EXPECT_EQ(d["workload"]["context"], d["answer"]["max_context"]["tokens"]);
  EXPECT_TRUE(engine["fits"].get<bool>());
  const double left = engine["may_use_bytes"].get<double>() - engine["needed_bytes"].get<double>();
  EXPECT_LT(left, of_rank / tokens) << "one more token of each would fit";
  EXPECT_GT(of_rank + 32.76e9, 0.8 * engine["may_use_bytes"].get<double>());
}

// The fastest of the layouts that can be named one by one.
TEST_F(ModelFigures, devices_take_the_fastest_layout) {
  const std::string line = "model qwen3-32b --device h100 --batch 16";
  const Json best = data_of(words(line + " --devices 4"));
  double most = 0;
  for (const char* layout :
       {" --tp 4", " --tp 2 --pp 2", " --pp 4", " --dp 2 --tp 2", " --dp 2 --pp 2"}) {
    most = std::max(most, data_of(words(line + layout))["answer"]["tokens_per_s"].get<double>());
  }
  EXPECT_NEAR(best["answer"]["tokens_per_s"].get<double>() / most, 1, 1e-6);
}

// The same words in `halmark tune`: the point of the front with most tokens/s has the same figures.
TEST_F(ModelFigures, a_served_load_has_the_figures_of_the_search) {
  const Json one =
      data_of(words("model qwen3-32b --device h100 --devices 4 --concurrency 64 --input 2000 "
                    "--output 500"))["served"];
  write("same.toml",
        "name = \"same\"\nmodel = \"qwen3-32b\"\ndevice_file = \"h100-sxm\"\n"
        "latency = [\"forecast\", \"roofline\"]\nshards = [4]\ndtypes = [\"bf16\"]\n"
        "objectives = [\"tokens_per_s_per_device\"]\n[request]\ninput_tokens = 2000\n"
        "output_tokens = 500\nconcurrency = [64]\ntoken_budget = [2048, 8192]\n");
  const Json front = data_of({"tune", path("same.toml")})["front"];
  ASSERT_EQ(front.size(), 1u);
  for (const char* figure : {"ttft_ns", "tpot_ns", "tokens_per_s"}) {
    EXPECT_EQ(one["figures"][figure], front[0]["figures"][figure]) << figure;
  }
  // Little's law: 64 requests of 500 tokens go round in the time of one.
  const double request_s = one["figures"]["request_ns"].get<double>() / 1e9;
  EXPECT_NEAR(one["figures"]["tokens_per_s"].get<double>() * request_s, 64 * 500, 1e-3);
  EXPECT_GT(one["tokens_per_s_at_best"].get<double>(),
            one["figures"]["tokens_per_s"].get<double>());
}

// What `tune` chooses of the same words; power and price by the second.
TEST_F(ModelFigures, devices_are_compared_at_the_points_that_tune_chooses) {
  const auto figure = [](const Json& of, const char* name) { return of[name].get<double>(); };
  for (const std::string load : {"", " --tpot 40ms --ttft 2s --input 2000 --output 500"}) {
    const std::string asked = "--devices 4" + load;
    const Json d =
        data_of(words("compare-devices h100 h200 --model llama-3.3-70b --price "
                      "h200=3.6 " +
                      asked));
    for (const Json& side : d["sides"]) {
      const std::string device = side["device"];
      const Json alone = data_of(words("tune llama-3.3-70b --device " + device + ' ' + asked));
      EXPECT_EQ(side["point"], alone["picked"]["point"]) << device << load;
      const std::size_t at = side["point"].get<std::size_t>() - 1;
      for (const auto& [name, value] : side["figures"].items()) {
        EXPECT_EQ(value, alone["front"][at]["figures"][name]) << name << device << load;
      }
      const double rate = figure(side["figures"], "tokens_per_s_per_device");
      EXPECT_NEAR(figure(side["figures"], "energy_j_per_token"), 700 / rate, 1e-9);
    }
    const Json &h100 = d["sides"][0], &h200 = d["sides"][1];
    const double rate = figure(h200["figures"], "tokens_per_s_per_device");
    EXPECT_NEAR(figure(h200, "usd_per_million_tokens"), 3.6 / 3600 * 1e6 / rate, 1e-9);
    EXPECT_TRUE(h100["usd_per_million_tokens"].is_null());
    EXPECT_EQ(d["ahead"]["device"], "h200");
    EXPECT_NEAR(figure(d["ahead"], "ratio"),
                rate / figure(h100["figures"], "tokens_per_s_per_device"), 1e-9);
    EXPECT_LT(d["ahead"]["ratio_interval"][0], d["ahead"]["ratio"]);
    EXPECT_GT(d["ahead"]["ratio_interval"][1], d["ahead"]["ratio"]);
  }
}

// A token of llama-3.1-8b keeps 128 KiB: 2 x 8 heads x 128 x 32 layers x 2 bytes.
TEST_F(ModelFigures, sequences_that_fit_fill_the_cache_that_is_left) {
  for (const std::string device : {"rtx-4090", "h100", "h200"}) {
    const Json room = data_of({"model", "llama-3.1-8b", "--device", device})["fit"]["room"];
    const double of_one = 8192 * 131'072.0, sequences = room["sequences"].get<double>();
    EXPECT_LE(sequences * of_one, 1.002 * room["cache_bytes"].get<double>()) << device;
    EXPECT_GE((sequences + 2) * of_one, room["cache_bytes"].get<double>()) << device;
  }
}

}  // namespace
}  // namespace halmark::integration
