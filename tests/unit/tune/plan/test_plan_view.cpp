// A plan as it is shown before anything is opened.
// Questions as people type them, against the line that answers them.
#include <gmock/gmock.h>

#include "plan/sweep.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/plain_question.hpp"
#include "tune/plan/plan_view.hpp"

namespace halmark::tune {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TunePlan plan_of(const std::string& more, bool is_measured = true, Target target = {}) {
  target.cores = 2;
  target.memory_bytes = std::int64_t{1} << 30;
  Sweep sweep =
      parse_sweep("name = \"s\"\nmodel = \"tiny-qwen3\"\ndtypes = [\"f32\"]\nshards = [1]\n" +
                      more + "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4]\ncontext = 128\n",
                  "s.toml");
  ModelSpec spec = load_model(sweep.model, {halmark::test::in_source("/tests/data")});
  const std::vector<std::int64_t> shards = {1};
  return {std::move(sweep), std::move(spec), target, shards, {}, is_measured};
}

TEST(PlanView, counts_configurations_kernels_and_seconds) {
  const TunePlan plan = plan_of("[measure]\nrounds = 4\n");
  const report::View view = plan_view(plan);
  const std::string model = plan.spec().id, hash = plan.hash().substr(0, 12);
  EXPECT_THAT(view.text,
              ContainsRegex("^about [0-9.]+ s of measuring on cpu: 3 configurations of " + model +
                            "\nplan " + hash + "  model " + model + "  sampler grid\n"));
  EXPECT_EQ(view.data.at("measuring_s"), plan.forecast().seconds) << "a grid measures all of it";
  EXPECT_THAT(view.text,
              halmark::test::has_lines({"decode.*: 3 configurations of [0-9]+ combinations\n",
                                        "kernels [0-9]+ unique of all configurations, 4 rounds, "
                                        "predicted measuring time [0-9]+ s \\(basis: priors, no "
                                        "peaks measured yet\\)\n"}));
  EXPECT_THAT(view.text, halmark::test::has_none({"chooses what is measured", "winners:"}));
  EXPECT_THAT(view.text, Not(HasSubstr("routing skew"))) << "no experts";
  for (const int batch : {1, 2, 4}) {
    EXPECT_THAT(view.text, ContainsRegex("decode batch " + std::to_string(batch) +
                                         " f32 +dp1 tp1 pp1 ep1 +.*[a-z]+ [0-9]+ +[0-9]+\n"));
  }
  EXPECT_EQ(view.data.at("hash"), plan.hash());
  EXPECT_EQ(view.data.at("configurations").size(), 3u);
  EXPECT_EQ(view.data.at("kernels").size(), plan.forecast().kernels.size());
  EXPECT_EQ(view.data.at("kernels")[0], plan.forecast().kernels[0].key());
  EXPECT_EQ(view.data.at("predicted_s"), plan.forecast().seconds);
  EXPECT_THAT(view.data,
              halmark::test::HasValues(R"({"/basis": "priors", "/covers_everything": true,
      "/winners": 0})"));
  // The kernels by op: as many as the forecast has of it.
  std::map<std::string, int> by_op;
  for (const KernelCase& k : plan.forecast().kernels) ++by_op[k.problem.op];
  for (const auto& [op, count] : by_op) {
    EXPECT_THAT(view.text, ContainsRegex(op + " +" + std::to_string(count) + "\n"));
  }
}

TEST(PlanView, says_who_chooses_within_the_budget) {
  const TunePlan plan = plan_of("sampler = \"random\"\nbudget_s = 1\ntrials = 2\n");
  const report::View view = plan_view(plan);
  if (!plan.covers_everything()) {
    EXPECT_THAT(view.text,
                HasSubstr("budget 1 s: random chooses what is measured until it is spent"));
    EXPECT_TRUE(view.text.starts_with("about 1 s of measuring on cpu: ")) << view.text;
    EXPECT_THAT(view.text.substr(0, view.text.find('\n')), HasSubstr(", so random chooses"));
    EXPECT_EQ(view.data.at("measuring_s"), 1);
  }
  EXPECT_EQ(view.data.at("covers_everything"), plan.covers_everything());
}

TEST(PlanView, by_measured_peaks_says_so) {
  Target target;
  target.measured = Device{.id = "cpu:0"};
  target.measured->peaks = {{.path = "p", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1e11}};
  target.measured->bandwidths = {{.level = "memory", .threads = 2, .bytes_per_s = 1e10}};
  const report::View view = plan_view(plan_of("", true, target));
  EXPECT_THAT(view.text, HasSubstr("(basis: measured peaks)"));
  EXPECT_EQ(view.data.at("basis"), "measured peaks");
}

TEST(PlanView, that_is_priced_has_no_kernels) {
  const report::View view = plan_view(plan_of("", false));
  EXPECT_THAT(view.text, HasSubstr("3 configurations of "));
  EXPECT_THAT(view.text, Not(HasSubstr("predicted measuring time")));
  EXPECT_FALSE(view.data.contains("kernels"));
  EXPECT_TRUE(view.data.contains("discarded"));
  EXPECT_TRUE(view.data.contains("model_notes"));
}

std::string line_for(std::string_view question) {
  return command_for(question, {halmark::test::in_source("/configs/models")},
                     {halmark::test::in_source("/configs/devices")});
}

TEST(PlainQuestion, becomes_the_line_that_answers_it) {
  struct Case {
    const char *question, *line;
  };
  for (const Case& c : {
           Case{"how many tokens/s will llama-3.3-70b do on 2 rtx-4090",
                "model llama-3.3-70b --device rtx-4090 --devices 2"},
           Case{"How many tokens/s will Llama-3.3-70B do on two RTX 4090?",
                "model Llama-3.3-70B --device rtx-4090 --devices 2"},
           Case{"qwen3 32b on 4xh100 for 32 users",
                "model qwen3-32b --device h100-sxm --devices 4 --batch 32"},
           Case{"Llama-3.3-70B on four H100 with 32 users, 2,000 in and 500 out",
                "model Llama-3.3-70B --device h100-sxm --devices 4 --concurrency 32 --input 2000 "
                "--output 500"},
           Case{"how many tokens/s does llama-3.1-8b do for 32 users on an h100",
                "model llama-3.1-8b --device h100-sxm --batch 32"},
           Case{"what is the fastest config of qwen3-32b on 4 h100 2000 in 500 out with vllm",
                "tune qwen3-32b --device h100-sxm --devices 4 --input 2000 --output 500 --as vllm"},
           Case{"What's the fastest way to serve Qwen/Qwen3-32B on 4 H100s?",
                "tune Qwen/Qwen3-32B --device h100-sxm --devices 4"},
           Case{
               "how many MI300X for DeepSeek-V3 at 20 requests/s, 2k in, 500 out",
               "plan-size DeepSeek-V3 --device mi300x --requests-per-s 20 --input 2k --output 500"},
           Case{"how many h100 do I need for 500 users of llama-3.1-8b",
                "plan-size llama-3.1-8b --device h100-sxm --users 500"},
           Case{"compare mi300x with h200 for deepseek-v3",
                "compare-devices mi300x h200 --model deepseek-v3"},
           Case{"h100 vs mi300x", "compare-devices h100-sxm mi300x"},
           Case{"does gpt-oss-120b fit one h100", "model gpt-oss-120b --device h100-sxm"},
           Case{"how long a context fits qwen3-32b with 16 users on 2 h100",
                "model qwen3-32b --device h100-sxm --devices 2 --batch 16 --max-context"},
           Case{"training llama-3.1-8b on h100",
                "plan-size llama-3.1-8b --device h100-sxm --tokens TOKENS --days DAYS"},
           Case{"llama-3.1-8b on a 4090", "model llama-3.1-8b --device rtx-4090"},
           Case{"can I run llama 3.3 70b on two 4090s",
                "model llama-3.3-70b --device rtx-4090 --devices 2"},
           Case{"qwen3-32b", "model qwen3-32b"},
           Case{"how fast is llama 70b on 4 h100",
                "model llama-3.3-70b --device h100-sxm --devices 4"},
           Case{"we measure 50 tokens/s with llama 70b on 4 h100, is that good",
                "model llama-3.3-70b --device h100-sxm --devices 4 --tokens-per-s 50"},
           Case{"my h100 takes 30 ms per token with llama 8b",
                "model llama-3.1-8b --device h100-sxm --measured-ms 30"},
           Case{"llama 70b under 50 ms tpot and 1s ttft on h200 with vllm",
                "tune llama-3.3-70b --device h200 --ttft 1s --tpot 50ms --as vllm"},
           Case{"what is the ttft of qwen3 32b on an l40s with 8k prompt",
                "model qwen3-32b --device l40s --concurrency 1 --input 8k --output 200"},
           Case{"kv cache of llama 70b at 128k", "model llama-3.3-70b --context 128k"},
           Case{"compare llama 70b and qwen 72b on an h100",
                "model llama-3.3-70b --device h100-sxm; halmark model qwen2.5-72b --device "
                "h100-sxm"},
           Case{"gpt-oss 120b on b200 at 64 concurrency 1k in 1k out",
                "model gpt-oss-120b --device b200 --concurrency 64 --input 1k --output 1k"},
           Case{"which gpu should I rent for llama 70b",
                "compare-devices DEVICE DEVICE --model llama-3.3-70b"},
           Case{"deepseek r1 on 8 h200 with sglang",
                "tune deepseek-r1 --device h200 --devices 8 --as sglang"},
           Case{"h100 bf16 peak", "devices h100-sxm"},
           Case{"best batch size for qwen 72b on an a100", "tune qwen2.5-72b --device a100"},
           Case{"gemma 27b at batch 8 on an h100", "model gemma-3-27b --device h100-sxm --batch 8"},
           Case{"how many gpus for 1000 users of llama 70b",
                "plan-size llama-3.3-70b --device DEVICE --users 1000"},
           Case{"how many gpus do I need for llama 70b", "model llama-3.3-70b --device DEVICE"},
           Case{"does llama 70b in fp8 fit on an h200",
                "model llama-3.3-70b --device h200 --dtype fp8"},
           Case{"fp8 or bf16 for llama-3.1-70b on h100",
                "model llama-3.1-70b --device h100-sxm --dtype fp8; halmark model llama-3.1-70b "
                "--device h100-sxm --dtype bf16"},
           Case{"qwen3 32b with 4 bit weights on a 4090",
                "model qwen3-32b --device rtx-4090 --dtype w4a16"},
           Case{"llama 70b awq on two a100",
                "model llama-3.3-70b --device a100 --dtype awq --devices 2"},
           Case{"max context of llama-3.1-8b on my gpu",
                "model llama-3.1-8b --device DEVICE --max-context"},
           Case{"fine-tune llama 8b on 8 a100",
                "model llama-3.1-8b --phase training --device a100 --devices 8"},
           Case{"nightly gate in github actions", "explain nightly"},
           Case{"is my cpu at its peak", "peaks"},
           Case{"which of these builds is slower", "compare OLD NEW"},
           Case{"benchmark", "bench --op gemm"},
           Case{"what does quarantined mean", "explain quarantined"},
           Case{"W-ENV-03", "explain W-ENV-03"},
       }) {
    EXPECT_EQ(line_for(c.question), std::string("halmark ") + c.line) << c.question;
  }
}

TEST(PlainQuestion, without_a_known_word_has_no_line) {
  for (const std::string question : {"", "   ", "???", "tnue", "what is the weather", "how are you",
                                     "llama-9.9-900b", "--help me", "4", "2000 in 500 out"}) {
    EXPECT_EQ(line_for(question), "") << question;
  }
  std::string endless;
  for (int i = 0; i < 5000; ++i) endless += "llama-3.1-8b ";
  EXPECT_EQ(line_for(endless), "");
}

}  // namespace
}  // namespace halmark::tune
