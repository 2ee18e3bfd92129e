// Questions as people type them, against the line that answers them.
#include "tune/plan/plain_question.hpp"

#include <gtest/gtest.h>

#include "tests/checkout.hpp"

namespace halmark::tune {
namespace {

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
