// Serving figures against hand-computed turns, Little's law, and a queue stepped one by one.
#include "model/serving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <vector>

namespace halmark {
namespace {

// Decode: 100 ns for the weights and 2 per sequence; prefill: 100 and 1 per token.
StepTimes linear_times() {
  return {.decode =
              [](std::int64_t sequences, std::int64_t) {
                return std::optional(StepTime{100.0 + 2.0 * static_cast<double>(sequences),
                                              static_cast<double>(sequences)});
              },
          .prefill =
              [](std::int64_t sequences, std::int64_t new_tokens, std::int64_t) {
                const auto tokens = static_cast<double>(sequences * new_tokens);
                return std::optional(StepTime{100.0 + tokens, tokens});
              }};
}

ServingFigures together(const RequestShape& shape, std::int64_t concurrency, std::int64_t budget,
                        int devices = 1) {
  const Served served = serve_together(shape, concurrency, budget, linear_times(), devices);
  const auto* figures = std::get_if<ServingFigures>(&served);
  EXPECT_NE(figures, nullptr) << std::get<Refusal>(served).text;
  return figures == nullptr ? ServingFigures{} : *figures;
}

TEST(Serving, one_request_is_its_prefill_and_its_decode_steps) {
  // Prompt 50 in one step: 150. Then 9 steps of 102.
  const ServingFigures f = together({.input_tokens = 50, .output_tokens = 10}, 1, 4096);
  EXPECT_DOUBLE_EQ(f.ttft_ns, 150);
  EXPECT_DOUBLE_EQ(f.tpot_ns, 102);
  EXPECT_DOUBLE_EQ(f.request_ns, 150 + 9 * 102);
  EXPECT_DOUBLE_EQ(f.tokens_per_s, 10 / f.request_ns * 1e9);
}

TEST(Serving, a_prompt_beyond_the_budget_takes_several_steps) {
  // 100 tokens, 40 at a time: 3 steps of 33 to 34 tokens, 400 in all.
  const ServingFigures f = together({.input_tokens = 100, .output_tokens = 1}, 1, 40);
  EXPECT_DOUBLE_EQ(f.ttft_ns, 400);
  EXPECT_EQ(f.tpot_ns, 0);
  EXPECT_DOUBLE_EQ(f.request_ns, 400);
}

TEST(Serving, two_requests_meet_in_mixed_steps) {
  // o = 9, p = 1: a turn of 10 steps, 2 of them with a prompt and the other request decoding:
  // 150 + (102 - 102) = 150; the other 8 decode both: 104.
  const ServingFigures f = together({.input_tokens = 50, .output_tokens = 10}, 2, 4096);
  EXPECT_DOUBLE_EQ(f.request_ns, 2 * 150 + 8 * 104);
  EXPECT_DOUBLE_EQ(f.ttft_ns, 150);
  EXPECT_DOUBLE_EQ(f.tpot_ns, (150 + 8 * 104) / 9.0);
}

TEST(Serving, littles_law_holds_everywhere) {
  for (const std::int64_t concurrency : {1, 3, 16, 100, 1000}) {
    for (const std::int64_t budget : {1001, 2048, 16384}) {
      for (const RequestShape& shape :
           std::vector<RequestShape>{{100, 100}, {4000, 20}, {10, 1000}, {5, 1}}) {
        const ServingFigures f = together(shape, concurrency, budget);
        EXPECT_NEAR(f.requests_per_s * f.request_ns / 1e9, static_cast<double>(concurrency), 1e-6);
        EXPECT_NEAR(f.ttft_ns + static_cast<double>(shape.output_tokens - 1) * f.tpot_ns,
                    f.request_ns, 1e-6 * f.request_ns);
        EXPECT_GT(f.ttft_ns, 0);
      }
    }
  }
}

TEST(Serving, prompts_bound_a_saturated_engine) {
  // 1000 tokens of prompt for each of 2 output tokens: at most budget tokens per 100 + budget ns.
  const ServingFigures f = together({.input_tokens = 1000, .output_tokens = 2}, 500, 1000);
  const double prompt_tokens_per_s = f.requests_per_s * 1000;
  EXPECT_LT(prompt_tokens_per_s, 1000 / 1100.0 * 1e9);
  EXPECT_GT(prompt_tokens_per_s, 0.95 * 1000 / 1100.0 * 1e9);
  EXPECT_GT(f.ttft_ns, 100 * f.tpot_ns);  // nearly all of the time is waiting
}

// Continuous batching step by step: a new request arrives as one leaves; decodes first, then
// prompts in order of arrival while the budget lasts. Returns the time of a request in steady
// state.
double stepped_request_ns(const RequestShape& shape, int concurrency, std::int64_t budget) {
  struct Running {
    std::int64_t prompt_left, output_left;
  };
  std::deque<Running> running;
  const int requests_wanted = 60 * concurrency;
  double now = 0, warm_ns = 0;
  int done = 0, warm_done = 0, arrived = 0;
  const auto arrive = [&] {
    // The first ones begin at different places of their output, as they would after a while.
    const std::int64_t spread = shape.output_tokens * arrived / concurrency;
    running.push_back({shape.input_tokens, arrived < concurrency ? std::max<std::int64_t>(1, spread)
                                                                 : shape.output_tokens});
    ++arrived;
  };
  for (int i = 0; i < concurrency; ++i) arrive();
  while (done < requests_wanted) {
    std::int64_t decoding = 0, prompt = 0;
    for (const Running& r : running) decoding += r.prompt_left == 0 ? 1 : 0;
    std::int64_t room = budget - decoding;
    for (Running& r : running) {
      if (r.prompt_left == 0) {
        --r.output_left;
        continue;
      }
      const std::int64_t chunk = std::min(room, r.prompt_left);
      r.prompt_left -= chunk;
      room -= chunk;
      prompt += chunk;
      if (chunk > 0 && r.prompt_left == 0) --r.output_left;  // the last chunk gives the first token
    }
    const double decode_ns = decoding > 0 ? 2.0 * static_cast<double>(decoding) - 2.0 : 0;
    now += prompt > 0 ? 100.0 + static_cast<double>(prompt) + decode_ns
                      : 100.0 + 2.0 * static_cast<double>(decoding);
    const std::size_t before = running.size();
    std::erase_if(running, [](const Running& r) { return r.output_left <= 0; });
    done += static_cast<int>(before - running.size());
    while (static_cast<int>(running.size()) < concurrency) arrive();
    if (done < requests_wanted / 3) {
      warm_ns = now;
      warm_done = done;
    }
  }
  return (now - warm_ns) / (done - warm_done) * concurrency;
}

TEST(Serving, a_queue_stepped_one_by_one_agrees) {
  struct Case {
    RequestShape shape;
    int concurrency;
    std::int64_t budget;
  };
  for (const Case& c : std::vector<Case>{
           {{50, 100}, 8, 4096}, {{200, 50}, 4, 128}, {{1000, 10}, 16, 512}, {{64, 64}, 32, 256}}) {
    const double stepped = stepped_request_ns(c.shape, c.concurrency, c.budget);
    const double closed = together(c.shape, c.concurrency, c.budget).request_ns;
    EXPECT_NEAR(closed / stepped, 1, 0.06)
        << c.shape.input_tokens << "+" << c.shape.output_tokens << " x " << c.concurrency;
  }
}

TEST(Serving, a_budget_below_the_running_requests_is_refused) {
  const Served served = serve_together({10, 10}, 100, 99, linear_times(), 1);
  ASSERT_TRUE(std::holds_alternative<Refusal>(served));
  EXPECT_EQ(std::get<Refusal>(served).reason, "token_budget");
}

TEST(Serving, the_least_concurrency_that_serves_a_rate) {
  const RequestShape shape{50, 10};
  const double wanted = 3 * together(shape, 1, 4096).requests_per_s;
  const Served served = serve_rate(shape, wanted, 1000, 4096, linear_times(), 1);
  const auto& f = std::get<ServingFigures>(served);
  EXPECT_GE(f.requests_per_s, wanted);
  const auto fewer = static_cast<std::int64_t>(f.concurrency) - 1;
  EXPECT_LT(together(shape, fewer, 4096).requests_per_s, wanted);
  const Served too_much = serve_rate(shape, 1e9, 1000, 4096, linear_times(), 1);
  EXPECT_EQ(std::get<Refusal>(too_much).reason, "saturated");
}

TEST(Serving, rates_of_the_pools_are_matched) {
  // Prefill: 50 tokens in 150 ns on 1 device. Decode: 10 at a time, 9 steps of 120 ns, so
  // 10 / 1080 ns on 2 devices: one decode worker takes what 1.39 prefill workers give.
  const RequestShape shape{50, 10};
  const WorkerPool prefill{linear_times(), 1, 1}, decode{linear_times(), 10, 2};
  const auto matched = match_rates(shape, prefill, decode, 12, 7);
  const auto& best = std::get<Disaggregated>(matched);
  // By hand over all (p, d): requests/ns per device.
  double most = 0;
  int p_best = 0, d_best = 0;
  for (int p = 1; p <= 12; ++p) {
    for (int d = 1; p + 2 * d <= 12; ++d) {
      const double per_device = std::min(p / 150.0, d * 10 / 1080.0) / (p + 2 * d);
      if (per_device > most * (1 + 1e-12)) {
        most = per_device;
        p_best = p;
        d_best = d;
      }
    }
  }
  EXPECT_EQ(best.prefill_workers, p_best);
  EXPECT_EQ(best.decode_workers, d_best);
  EXPECT_NEAR(best.figures.requests_per_s,
              std::min(best.prefill_requests_per_s, best.decode_requests_per_s), 1e-3);
  EXPECT_DOUBLE_EQ(best.figures.ttft_ns, 157);
  EXPECT_DOUBLE_EQ(best.figures.tpot_ns, 120);
  EXPECT_NEAR(best.figures.concurrency, best.figures.requests_per_s * (157 + 9 * 120) / 1e9, 1e-9);
  const auto too_few = match_rates(shape, prefill, decode, 2, 0);
  EXPECT_EQ(std::get<Refusal>(too_few).reason, "too_few_devices");
}

TEST(Serving, utilisation_counts_each_token_once) {
  // Ideal: 1 ns a token of prompt, 1 ns a decoded one.
  const ServingFigures f = together({50, 10}, 2, 4096);
  EXPECT_NEAR(f.mfu.value(), 2 * (50 + 9) / f.request_ns, 1e-12);
}

}  // namespace
}  // namespace halmark
