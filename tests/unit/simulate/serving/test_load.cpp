// What comes, and what is no load.
#include <array>

#include "simulate/serving/load.hpp"
#include "simulate/serving/trace_columns.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

struct Gaps {
  double mean_s = 0, variation = 0;
};
Gaps gaps_of(const Load& load) {
  double sum = 0, squares = 0, before = 0;
  for (const RequestPlan& r : load.requests) {
    const double gap = events::seconds_of(r.arrival_ps) - before;
    before += gap;
    sum += gap, squares += gap * gap;
  }
  const auto n = static_cast<double>(load.requests.size());
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

// 40,000 gaps: the mean of Poisson gaps lies within 2 % with more than four standard errors.
TEST(Load, arrivals_have_the_rate_and_the_variation_that_were_asked_for) {
  LoadQuestion q{.arrivals = Arrivals::poisson, .requests = 40'000, .rate_per_s = 50};
  EXPECT_NEAR(gaps_of(load_of(q)).mean_s, 0.02, 0.0004);
  EXPECT_NEAR(gaps_of(load_of(q)).variation, 1, 0.03);
  for (const double variation : {0.3, 1.0, 2.5}) {
    q.arrivals = Arrivals::bursty;
    q.variation = variation;
    const Gaps gaps = gaps_of(load_of(q));
    EXPECT_NEAR(gaps.mean_s, 0.02, 0.02 * variation * 0.025) << variation;
    EXPECT_NEAR(gaps.variation / variation, 1, 0.06) << variation;
  }
}

TEST(Load, follows_from_its_seed) {
  LoadQuestion q{.arrivals = Arrivals::poisson,
                 .shape = {100, 5},
                 .requests = 50,
                 .prefix_tokens = 40,
                 .prefix_share = 0.5};
  const Load a = load_of(q), b = load_of(q);
  q.seed = 2;
  const Load c = load_of(q);
  std::size_t same = 0, with_prefix = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(a.requests[i].arrival_ps, b.requests[i].arrival_ps);
    same += a.requests[i].arrival_ps == c.requests[i].arrival_ps ? 1 : 0;
    with_prefix += a.requests[i].prefix_tokens == 40 ? 1 : 0;
  }
  EXPECT_EQ(same, 0u);
  EXPECT_GT(with_prefix, 10u);
  EXPECT_LT(with_prefix, 40u);
}

TEST(Trace, columns_stand_in_any_order) {
  const Load load = parse_trace(
      "output_tokens,arrival_s,input_tokens,prefix_id,prefix_tokens\r\n"
      "5,0,100,3,64\r\n7,1.5,200,,\r\n",
      "t.csv");
  ASSERT_EQ(load.requests.size(), 2u);
  EXPECT_EQ(load.requests[0].prefix, 3);
  EXPECT_EQ(load.requests[0].prefix_tokens, 64);
  EXPECT_EQ(load.requests[1].arrival_ps, 1'500'000'000'000);
  EXPECT_EQ(load.requests[1].input_tokens, 200);
  EXPECT_EQ(load.requests[1].prefix, RequestPlan::no_prefix);
  EXPECT_EQ(load.clients, 0);
}

struct Recorded {
  const char* name;
  const char* text;
};

// The same three requests as public traces and engines' logs have them, at 0, 1.5 and 4 seconds.
TEST(Trace, of_others_says_the_same_in_its_own_columns) {
  for (const auto& [name, text] :
       {Recorded{"Halmark", "arrival_s,input_tokens,output_tokens\n0,374,44\n1.5,10,2\n4,7,9\n"},
        {"Azure 2023",
         "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
         "2023-11-16 23:59:58.0000000,374,44\r\n2023-11-16 23:59:59.5000000,10,2\r\n"
         "2023-11-17 00:00:02.0000000,7,9\r\n"},
        {"Azure 2023, quoted",
         "\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\n"
         "\"2023-11-16 23:59:58.0\",\"374\",\"44\"\n\"2023-11-16 23:59:59.5\",\"10\",2\n"
         "\"2023-11-17 00:00:02.0\",7,\"9\"\n"},
        {"Azure 2024",
         "TIMESTAMP,ContextTokens,GeneratedTokens\n"
         "2024-02-28 23:59:58+00:00,374,44\n2024-02-29 01:59:59.5+02:00,10,2\n"
         "2024-02-29 00:00:02+00:00,7,9\n"},
        {"epoch",
         "arrival_s,input_tokens,output_tokens\n1787267980,374,44\n1787267981.5,10,2\n"
         "1787267984,7,9\n"},
        {"epoch in milliseconds",
         "arrived_at,num_prefill_tokens,num_decode_tokens\n"
         "1787267980000,374,44\n1787267981500,10,2\n1787267984000,7,9\n"},
        {"BurstGPT",
         "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
         "5,ChatGPT,374,44,418,a\n6.5,GPT-4,10,2,12,a\n9,GPT-4,7,9,16,a\n"},
        {"an engine's log",
         "{\"request_id\": \"b-0\", \"input_toks\": 374, \"output_toks\": 44, "
         "\"arrival_time\": 1787267980.25}\n"
         "{\"request_id\": \"b-1\", \"input_toks\": 10, \"output_toks\": 2, "
         "\"arrival_time\": 1787267981.75}\n"
         "{\"request_id\": \"b-2\", \"arrival_time\": 1787267984.25, \"input_toks\": 7, "
         "\"output_toks\": 9}\n"},
        {"Mooncake",
         "{\"timestamp\": 500, \"input_length\": 374, \"output_length\": 44, "
         "\"hash_ids\": [1]}\n"
         "{\"timestamp\": 2000, \"input_length\": 10, \"output_length\": 2, "
         "\"hash_ids\": []}\n\n"
         "{\"timestamp\": 4500, \"input_length\": 7, \"output_length\": 9, "
         "\"hash_ids\": []}\n"}}) {
    const Load load = parse_trace(text, name);
    ASSERT_EQ(load.requests.size(), 3u) << name;
    const std::array<double, 3> arrivals_s = {0, 1.5, 4};
    const std::array<std::int64_t, 3> inputs = {374, 10, 7}, outputs = {44, 2, 9};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(static_cast<double>(load.requests[i].arrival_ps) * 1e-12, arrivals_s[i], 1e-6)
          << name;
      EXPECT_EQ(load.requests[i].input_tokens, inputs[i]) << name;
      EXPECT_EQ(load.requests[i].output_tokens, outputs[i]) << name;
    }
  }
}

TEST(Trace, of_others_says_what_was_left_out) {
  const Load load = parse_trace(
      "Timestamp,Model,Request tokens,Response tokens\n5,a,10,2\n6,a,10,0\n7,a,10,3\n", "t.csv");
  EXPECT_EQ(load.requests.size(), 2u);
  ASSERT_EQ(load.notes.size(), 1u);
  EXPECT_EQ(load.notes[0],
            "arrivals: 2 of 3 requests taken; left out: 1 without an answer; columns not read: "
            "Model");
}

TEST(Trace, dates_are_seconds_since_1970) {
  // By date -u -d '...' +%s.
  EXPECT_EQ(seconds_of_date("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(seconds_of_date("2023-11-16 18:15:46"), 1'700'158'546);
  EXPECT_EQ(seconds_of_date("2024-02-29T12:00:00Z"), 1'709'208'000);
  EXPECT_EQ(seconds_of_date("2024-02-29T12:00:00.25-0130"), 1'709'208'000 + 5400 + 0.25);
  for (const char* none : {"", "5", "2023-13-01 00:00:00", "2023-02-30 00:00:00",
                           "2023-11-16 24:00:00", "2023-11-16 18:15:46 tomorrow", "2023-11-16"}) {
    EXPECT_FALSE(seconds_of_date(none)) << none;
  }
}

}  // namespace
}  // namespace halmark::serving
