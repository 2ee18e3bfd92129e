// Limits of loads and of traces, both sides of each, and the words of every refusal.

#include "simulate/serving/load.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

using testing::ElementsAre;
using testing::StrEq;

std::string load_refusal(const LoadQuestion& question) {
  return test::error_of([&] { load_of(question); }).line();
}

TEST(LoadLimits, requests_have_tokens_and_come_from_somebody) {
  EXPECT_EQ(load_refusal({.requests = 20'000'001}),
            "a load of 20000001 requests, and the limit is 20000000; ask for fewer: nothing "
            "was simulated");
  EXPECT_THAT(load_refusal({.requests = 20'000'000, .clients = 0}),
              StrEq("a closed loop of 0 clients; state a number above 0"))
      << "their number is not what is wrong";
  EXPECT_EQ(load_refusal({.requests = 0}), "a load of 0 requests; ask for 1 or more");
  EXPECT_EQ(load_refusal({.shape = {0, 1}}), "a request of 0 + 1 tokens; both are 1 or more");
  EXPECT_EQ(load_refusal({.shape = {1, 0}}), "a request of 1 + 0 tokens; both are 1 or more");
  EXPECT_EQ(load_of({.shape = {1, 1}}).requests.size(), 1u);
  for (const double rate : {0.0, -1.0, double{INFINITY}, double{NAN}}) {
    EXPECT_THAT(load_refusal({.arrivals = Arrivals::poisson, .shape = {1, 1}, .rate_per_s = rate}),
                testing::StartsWith("requests at "));
  }
}

TEST(LoadLimits, bursts_and_prefixes_lie_within_theirs) {
  LoadQuestion q{.arrivals = Arrivals::bursty, .shape = {10, 1}, .variation = 0};
  EXPECT_EQ(load_refusal(q), "bursts with a variation of 0; 1 is Poisson, more is burstier");
  q.variation = INFINITY;
  EXPECT_THAT(load_refusal(q), testing::StartsWith("bursts with a variation of inf"));
  q.arrivals = Arrivals::poisson;
  EXPECT_EQ(load_of(q).requests.size(), 1u) << "which has no variation";
  LoadQuestion share{.shape = {10, 1}, .requests = 20, .prefix_tokens = 10};
  for (const double wrong : {-0.1, 1.1}) {
    share.prefix_share = wrong;
    says(load_refusal(share), "; it lies from 0 to 1");
  }
  const auto with_prefix = [&](double of) {
    share.prefix_share = of;
    std::size_t out = 0;
    for (const RequestPlan& r : load_of(share).requests) {
      EXPECT_EQ(r.prefix, r.prefix_tokens == 10 ? 0 : RequestPlan::no_prefix);
      out += r.prefix_tokens == 10 ? 1 : 0;
    }
    return out;
  };
  EXPECT_EQ(with_prefix(0), 0u);
  EXPECT_EQ(with_prefix(1), 20u);
  share.prefix_tokens = 0;
  for (const RequestPlan& r : load_of(share).requests) EXPECT_EQ(r.prefix, RequestPlan::no_prefix);
  share.prefix_tokens = 11;
  EXPECT_EQ(load_refusal(share),
            "a common prefix of 11 tokens in prompts of 10; it is a part of the prompt");
  share.prefix_tokens = -1;
  EXPECT_THAT(load_refusal(share), testing::StartsWith("a common prefix of -1 tokens"));
}

std::vector<double> arrivals_ms(const LoadQuestion& question) {
  std::vector<double> out;
  for (const RequestPlan& r : load_of(question).requests) {
    out.push_back(std::round(static_cast<double>(r.arrival_ps) * 1e-6) / 1000);
  }
  return out;
}

TEST(LoadArrivals, clients_begin_evenly_and_come_back_when_they_are_answered) {
  const LoadQuestion q{.requests = 6, .clients = 4, .spread_s = 2};
  EXPECT_EQ(load_of(q).clients, 4);
  EXPECT_THAT(arrivals_ms(q), ElementsAre(0, 500, 1000, 1500, 1500, 1500));
  EXPECT_EQ(load_of({.requests = 3, .clients = 9}).clients, 3);
  EXPECT_EQ(load_of({.arrivals = Arrivals::poisson, .requests = 3, .clients = 9}).clients, 0);
}

// A seed names a load: with other figures a report could not be repeated.
TEST(LoadArrivals, of_a_seed_stay_as_they_are) {
  LoadQuestion q{.arrivals = Arrivals::poisson, .shape = {10, 1}, .requests = 4, .rate_per_s = 10};
  EXPECT_THAT(arrivals_ms(q), ElementsAre(83.601, 220.557, 574.612, 633.376));
  q.arrivals = Arrivals::bursty;
  q.variation = 0.5;
  EXPECT_THAT(arrivals_ms(q), ElementsAre(90.036, 141.086, 165.927, 203.833));
  q.variation = 2;
  EXPECT_THAT(arrivals_ms(q), ElementsAre(33.714, 54.477, 65.609, 108.347));
  // A draw that is refused or taken otherwise moves all that come behind it.
  q.requests = 5'000;
  EXPECT_NEAR(arrivals_ms(q).back(), 507'990.278, 0.01);
  q.variation = 0.5;
  EXPECT_NEAR(arrivals_ms(q).back(), 494'270.892, 0.01);
  q.prefix_tokens = 10;
  q.prefix_share = 0.5;
  q.requests = 8;
  std::string marks;
  for (const RequestPlan& r : load_of(q).requests) marks += r.prefix_tokens > 0 ? 'x' : '-';
  EXPECT_EQ(marks, "-xxx-xx-");
}

std::string trace_refusal(const std::string& text) {
  return test::error_of([&] { parse_trace(text, "t.csv"); }).line();
}
const std::string head = "arrival_s,input_tokens,output_tokens\n";
const std::string wide = "arrival_s,input_tokens,output_tokens,prefix_id,prefix_tokens,priority\n";

TEST(TraceLimits, numbers_are_whole_and_fit_into_31_bits) {
  const Load most = parse_trace(head + "0,2147483648,2147483648\n", "t.csv");
  EXPECT_EQ(most.requests[0].input_tokens, 2'147'483'648);
  EXPECT_EQ(trace_refusal(head + "0,2147483649,1\n"),
            "t.csv:2: input_tokens '2147483649'; a whole number of 1 or more");
  EXPECT_EQ(trace_refusal(head + "0,1,0\n"),
            "t.csv:2: output_tokens '0'; a whole number of 1 or more");
  for (const char* const text : {"1x", "x", "0", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(trace_refusal(head + "0," + text + ",1\n"),
              "t.csv:2: input_tokens '" + std::string(text) + "'; a whole number of 1 or more");
  }
  for (const char* const text : {"1x", "x", "inf", "nan", "-0.5", "1e999"}) {
    EXPECT_EQ(trace_refusal(head + text + ",1,1\n"),
              "t.csv:2: arrival_s '" + std::string(text) +
                  "'; seconds from the begin of the trace, 0 or more");
  }
}

TEST(TraceLimits, prefixes_and_priorities_are_given_or_not) {
  const Load load = parse_trace(wide + "0,10,2,0,10,3\n0,10,2,5,0,\n1,10,2,,,0", "t.csv");
  ASSERT_EQ(load.requests.size(), 3u) << "the last line needs no end";
  EXPECT_EQ(load.requests[0].prefix, 0);
  EXPECT_EQ(load.requests[0].prefix_tokens, 10) << "a whole prompt";
  EXPECT_EQ(load.requests[0].priority, 3);
  EXPECT_EQ(load.requests[1].prefix, 5);
  EXPECT_EQ(load.requests[1].prefix_tokens, 0);
  EXPECT_EQ(load.requests[1].priority, 0);
  EXPECT_EQ(load.requests[1].arrival_ps, load.requests[0].arrival_ps) << "at once is no step back";
  EXPECT_EQ(load.requests[2].prefix, RequestPlan::no_prefix);
  EXPECT_EQ(load.requests[2].arrival_ps, 1'000'000'000'000);
  EXPECT_EQ(trace_refusal(wide + "0,10,2,-1,4,0\n"),
            "t.csv:2: prefix_id '-1'; a whole number of 0 or more");
  EXPECT_EQ(trace_refusal(wide + "0,10,2,1,,0\n"),
            "t.csv:2: no prefix_tokens; a hole in a trace is no request: fill it in or "
            "leave the row out");
  EXPECT_EQ(trace_refusal(wide + "0,10,2,1,4,-1\n"),
            "t.csv:2: priority '-1'; a whole number of 0 or more");
  EXPECT_EQ(trace_refusal(wide + "0,10,2,1,11,0\n"),
            "t.csv:2: prefix_tokens 11 exceed input_tokens 10; the prefix is a part of the "
            "prompt");
}

TEST(TraceLimits, rows_have_the_fields_of_the_header_and_time_goes_on) {
  EXPECT_EQ(trace_refusal(head + "0,10\n"),
            "t.csv:2: 2 fields, and the header has 3; give every request all of its fields");
  EXPECT_EQ(trace_refusal(head + "0,10,1\n0,10,1,1\n"),
            "t.csv:3: 4 fields, and the header has 3; give every request all of its fields");
  EXPECT_EQ(trace_refusal(head + "2.5,10,1\n2,10,1\n"),
            "t.csv:3: time runs backwards: a request at 2 s comes behind a later one; sort "
            "the trace by arrival_s");
  EXPECT_EQ(trace_refusal("arrival_s,input_tokens,output_token\n"),
            "t.csv:1: column 'output_token' is not one of a trace; did you mean "
            "'output_tokens' or 'input_tokens'?");
  EXPECT_EQ(trace_refusal("arrival_s,output_tokens\n0,1\n"),
            "t.csv:1: column 'input_tokens' is missing; a trace has "
            "arrival_s,input_tokens,output_tokens");
  EXPECT_EQ(trace_refusal(""), "t.csv: a trace without requests");
  EXPECT_EQ(trace_refusal(head), "t.csv: a trace without requests");
  says(trace_refusal(head + "0,10,1\n1,,1\n"), "t.csv:3: no input_tokens");
  says(trace_refusal(head + "0,10,1\n\n1,10,1\n"), "t.csv:3: 1 fields");
}

TEST(TraceLimits, keys_of_later_lines_are_read_or_refused) {
  const std::string own = R"({"arrival_s":0,"input_tokens":5,"output_tokens":5})"
                          "\n";
  const std::string later = R"({"arrival_s":1,"input_tokens":5,"output_tokens":5,"priority":2)";
  const Load load =
      parse_trace(own + later + "}\n" + own.substr(0, 13) + "2" + own.substr(14), "t");
  EXPECT_EQ(load.requests.at(1).priority, 2);
  EXPECT_EQ(load.requests.at(2).priority, 0);
  says(trace_refusal(own + later + R"(,"junk":1})"), "t.csv:2: column 'junk' is not one of a");
  says(trace_refusal('[' + own + ']'), "t.csv: a list of requests; write one JSON object a line");
  std::string many = "{\"k\":0";
  for (int i = 0; i < 1001; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  says(trace_refusal("{\"timestamp\":0,\"input_length\":5,\"output_length\":5}\n" + many + "}"),
       "t.csv:2: more than 1000 keys");
}

TEST(TraceLimits, a_trace_ends_where_its_text_ends) {
  const std::string longer = head + "0,10,25";
  EXPECT_EQ(parse_trace(std::string_view(longer).substr(0, longer.size() - 1), "t.csv")
                .requests.at(0)
                .output_tokens,
            2);
  const std::string late = "output_tokens,input_tokens,arrival_s\n1,1,25";
  EXPECT_EQ(parse_trace(std::string_view(late).substr(0, late.size() - 1), "t.csv")
                .requests.at(0)
                .arrival_ps,
            2'000'000'000'000);
}

TEST(TraceLimits, a_file_is_read_under_its_name) {
  const test::ScratchFolder folder;
  test::write_file(folder / "load.csv", head + "0.25,10,2\n");
  EXPECT_EQ(read_trace(folder / "load.csv").requests.at(0).arrival_ps, 250'000'000'000);
  test::write_file(folder / "load.csv", head + "0.25,0,2\n");
  refuses([&] { read_trace(folder / "load.csv"); }, "load.csv:2: input_tokens '0'");
}

}  // namespace
}  // namespace halmark::serving
