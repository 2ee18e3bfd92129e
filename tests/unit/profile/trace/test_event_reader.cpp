// Reading: any block size, any damage, any shape of the outer document.
// Where a damaged trace is damaged, to the byte and at any block size; the limits of names, depths,
// times, events and unpacked bytes, on both sides.
#include <gmock/gmock.h>

#include <sstream>

#include "core/numeric/cast.hpp"
#include "gzip.hpp"
#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Everything that the reader hands over, as text.
std::string events_of(const std::string& text, std::size_t block_bytes = 1u << 20) {
  std::ostringstream out;
  const auto source = bytes_of(text, "t.json");
  read_events(*source, "t.json",
              [&](const Event& e) {
                out << e.phase << '|' << e.category << '|' << e.name << '|' << e.process << '|'
                    << e.thread << '|' << e.begin_ns << '|' << e.duration_ns << '|'
                    << e.correlation.value_or(0) << '|' << e.external_id.value_or(0) << '|'
                    << e.input_dims << '|' << e.concrete_inputs << '\n';
              },
              {.block_bytes = block_bytes, .event_bytes_max = 1u << 16});
  return out.str();
}

std::string refusal_of(const std::string& text) {
  return halmark::test::error_of([&] { events_of(text); }).line();
}

const std::string tricky =
    R"({"a": "}]\"", "traceEvents": [{"ph":"X","name":"q\"]}\\","args":{"x":[{"y":"[{"}]},)"
    R"("ts":1.5,"dur":0.0025,"cat":"c","tid":"stream 7"} , {"name":"\\\\\"","ph":"i"},{}],)"
    R"("b": {"traceEvents": 1}})";

TEST(EventReader, the_result_does_not_depend_on_the_block_size) {
  const std::string text = TraceText()
                               .op("aten::mm", 1, 2, "[[4, 8], [8, 16]]", R"(["", ""])", 7)
                               .module("Linear_0", 0.5, 3)
                               .launch(9, 1.5)
                               .kernel("void gemm<\\\"x\\\">", 9, 2, 3)
                               .text();
  for (const std::string& each : {text, tricky}) {
    const std::string whole = events_of(each);
    EXPECT_FALSE(whole.empty());
    for (std::size_t bytes = 1; bytes < each.size() + 2; ++bytes) {
      ASSERT_EQ(events_of(each, bytes), whole) << bytes;
    }
  }
}

TEST(EventReader, escapes_and_brackets_in_strings_end_nothing) {
  EXPECT_EQ(events_of(tricky),
            "X|c|q\"]}\\||\"stream 7\"|1500|3|0|0||\n"
            "i||\\\\\"|||0|0|0|0||\n"
            "\0|||||0|0|0|0||\n"s);
}

TEST(EventReader, a_bare_array_and_gzip_give_the_same_events) {
  const std::string text = TraceText().op("aten::mm", 1, 2).text();
  const std::size_t begin = text.find('['), end = text.rfind(']');
  const std::string array = text.substr(begin, end - begin + 1);
  EXPECT_EQ(events_of(array), events_of(text));
  EXPECT_EQ(events_of(gzip(text)), events_of(text));
  EXPECT_EQ(events_of(gzip(text.substr(0, 50)) + gzip(text.substr(50))), events_of(text));
  EXPECT_EQ(events_of("\xef\xbb\xbf" + text), events_of(text));
}

TEST(EventReader, a_trace_cut_anywhere_is_refused) {
  const std::string text =
      TraceText().op("aten::mm", 1, 2, "[[4, 8], [8, 16]]").module("Linear_0", 0, 3).text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(refusal_of(text.substr(0, size)), HasSubstr("t.json:byte")) << size;
  }
  const std::string packed = gzip(text);
  for (std::size_t size = 1; size < packed.size(); ++size) {
    EXPECT_THAT(refusal_of(packed.substr(0, size)), HasSubstr("t.json")) << size;
  }
}

TEST(EventReader, what_is_no_trace_is_refused_with_its_reason) {
  const auto events = [](const std::string& inner) {
    return R"({"traceEvents": [)" + inner + "]}";
  };
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "ends in the middle"},
      {"12", "neither a JSON object nor an array"},
      {"{}", "no traceEvents"},
      {R"({"traceEvents": [], "traceEvents": []})", "traceEvents twice"},
      {events(R"({"ts": NaN})"), "ts is no time"},
      {events(R"({"dur": Infinity})"), "dur is no time"},
      {events(R"({"ts": 1e300})"), "ts is no time"},
      {events(R"({"dur": -1})"), "ends before it begins"},
      {events(R"({"name": 7})"), "no valid JSON"},
      {events(R"({"name" "x"})"), "no valid JSON"},
      {events("{\"name\": \"\xff\"}"), "no valid JSON"},
      {events(R"({"args": )" + std::string(100, '[') + std::string(100, ']') + "}"),
       "nested deeper"},
      {events(R"({"name": ")" + std::string(100'000, 'x') + "\"}"), "larger than"},
      {gzip(gzip(events(""))), "gzip file inside"},
      {gzip(events("")) + "junk", "valid gzip"},
  };
  for (const auto& [text, reason] : table)
    EXPECT_THAT(refusal_of(text), HasSubstr(reason)) << text.substr(0, 80);
}

TEST(EventReader, a_gzip_bomb_stops_at_the_ratio) {
  const std::string bomb = gzip("{\"traceEvents\": [" + std::string(64u << 20, ' ') + "]}");
  EXPECT_LT(bomb.size(), 100'000u);
  EXPECT_THAT(refusal_of(bomb), HasSubstr("more than 200 times"));
}

TEST(EventReader, a_missing_file_is_named) {
  test::expect_error([] { open_bytes("absent.json"); }, "absent.json");
  test::expect_error([] { open_bytes("/"); }, "a folder");
}

ReadTotals read_all(const std::string& text, const CutLimits& limits = {},
                    const UnpackLimits& unpack = {}) {
  const auto source = bytes_of(text, "t.json", unpack);
  return read_events(
      *source, "t.json", [](const Event&) {}, limits);
}

std::string refusal(const std::string& text, const CutLimits& limits = {},
                    const UnpackLimits& unpack = {}) {
  return halmark::test::error_of([&] { read_all(text, limits, unpack); }).line();
}

std::string events(const std::string& inner) {
  return R"({"a": 1, "traceEvents": [)" + inner + "]}";
}

TEST(ReaderLimits, a_refusal_names_the_byte_at_any_block_size) {
  struct Case {
    std::string text, at, reason;  // the last of `at` in the text is where it is damaged
  };
  const std::vector<Case> table = {
      {events("{}, 1"), "1]", "has something in traceEvents that is no object"},
      {events("{},"), "]}", "has a comma before the end"},
      {events(" ,{}"), ",{}", "has a comma without an event"},
      {events("{} {}"), "{}]", "has no comma between two events"},
      {events("{\"b\": [1}"), "}]}", "has a bracket that closes nothing"},
      {events("{}") + "  x", "x", "has text behind its end"},
      {R"({"traceEvents": 3})", "3", "traceEvents is no array"},
      {R"({"b": 1, traceEvents: []})", "traceEvents", "a member name is expected"},
      {R"({"b" 1})", "1", "':' is expected"},
  };
  for (const Case& c : table) {
    const std::size_t at = c.text.rfind(c.at);
    for (std::size_t bytes = 16; bytes < c.text.size() + 20; ++bytes) {
      EXPECT_THAT(refusal(c.text, {.block_bytes = bytes}),
                  StartsWith("t.json:byte " + std::to_string(at) + ": " + c.reason))
          << c.text << ' ' << bytes;
    }
  }
}

TEST(ReaderLimits, an_event_that_is_no_json_is_named_by_a_byte_of_its_own) {
  const std::string text = events(R"({"name": "a"}, {"name": "b"}, {"name": 7}, {"name": "c"})");
  const std::size_t begin = text.find("{\"name\": 7"), end = text.find('}', begin);
  for (std::size_t bytes = 16; bytes < text.size() + 2; ++bytes) {
    const std::string line = refusal(text, {.block_bytes = bytes});
    ASSERT_THAT(line, StartsWith("t.json:byte ")) << bytes;
    const std::size_t at = std::stoul(line.substr(12));
    EXPECT_GE(at, begin) << bytes;
    EXPECT_LE(at, end) << bytes;
  }
}

TEST(ReaderLimits, sixty_brackets_nest_and_one_more_does_not) {
  const auto nested = [](int levels) {
    const auto n = as_size(levels - 1);  // the event is a level too
    return events("{\"a\": " + std::string(n, '[') + std::string(n, ']') + "}");
  };
  EXPECT_EQ(read_all(nested(60)).events, 1u);
  const std::string deep = nested(61);
  EXPECT_THAT(refusal(deep), StartsWith("t.json:byte " + std::to_string(deep.find("[]")) +
                                        ": is nested deeper than 60 levels"));
}

TEST(ReaderLimits, an_event_may_have_as_many_bytes_as_the_limit) {
  const auto of_size = [](std::size_t bytes) {
    const std::string head = R"({"name": ")", tail = "\"}";
    return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
  };
  for (const std::size_t block : {std::size_t{16}, std::size_t{64}, std::size_t{1} << 20}) {
    const CutLimits limits{.block_bytes = block, .event_bytes_max = 500};
    const std::string before = of_size(300) + ", ";
    EXPECT_EQ(read_all(events(before + of_size(500)), limits).events, 2u);
    const std::string text = events(before + of_size(501));
    EXPECT_THAT(refusal(text, limits),
                StartsWith("t.json:byte " + std::to_string(text.find(", {") + 2) +
                           ": has an event larger than 500 bytes"));
    // One that never ends is refused too, and not first read whole.
    EXPECT_THAT(refusal(R"({"traceEvents": [{"name": ")" + std::string(100'000, 'x'), limits),
                HasSubstr("larger than 500 bytes"));
  }
}

TEST(ReaderLimits, a_member_name_has_at_most_4096_bytes) {
  const auto named = [](std::size_t bytes) {
    return "{\"" + std::string(bytes, 'k') + R"(": 1, "traceEvents": [{}]})";
  };
  EXPECT_EQ(read_all(named(4096)).events, 1u);
  EXPECT_THAT(refusal(named(4097)), HasSubstr("longer than 4096 bytes"));
}

TEST(ReaderLimits, totals_are_those_of_the_unpacked_file) {
  const std::string text = events("{}, {}, {}");
  for (const std::string& each : {text, gzip(text)}) {
    for (const std::size_t block : {16u, 20u, 1000u}) {
      const ReadTotals totals = read_all(each, {.block_bytes = block});
      EXPECT_EQ(totals.events, 3u);
      EXPECT_EQ(totals.bytes, text.size());
    }
  }
}

TEST(ReaderLimits, times_reach_four_thousand_million_seconds) {
  std::vector<std::int64_t> begins;
  const std::string text = events(R"({"ts": 4e15}, {"ts": -4e15}, {"ts": 3.6e15})");
  read_events(*bytes_of(text, "t"), "t", [&](const Event& e) { begins.push_back(e.begin_ns); });
  EXPECT_THAT(begins, testing::ElementsAre(4'000'000'000'000'000'000, -4'000'000'000'000'000'000,
                                           3'600'000'000'000'000'000));
  EXPECT_THAT(refusal(events(R"({"ts": 4.1e15})")), HasSubstr("ts is no time in microseconds"));
  EXPECT_THAT(refusal(events(R"({"dur": 6e15})")), HasSubstr("dur is no time in microseconds"));
}

TEST(ReaderLimits, every_argument_is_handed_over) {
  const std::string text = events(
      R"({"ph": "X", "pid": 3 , "tid": "s 7", "args": {"Input type": ["float"], "Input dims": [[2]],
          "external id": 5, "graph node id": 6, "correlation": "x", "Concrete Inputs": ["1"]}},)"
      R"({"ph": "", "args": 3}, {"ph": 4, "args": {"Input Dims": 7, "External id": 8}})");
  std::vector<std::string> out;
  read_events(*bytes_of(text, "t"), "t", [&](const Event& e) {
    out.push_back(std::string(e.process) + '|' + std::string(e.thread) + '|' +
                  std::string(e.input_types) + '|' + std::string(e.input_dims) + '|' +
                  std::string(e.concrete_inputs) + '|' + std::to_string(e.external_id.value_or(0)) +
                  '|' + std::to_string(e.graph_node.value_or(0)) + '|' +
                  std::to_string(e.correlation.value_or(0)));
  });
  EXPECT_THAT(out, testing::ElementsAre(R"(3|"s 7"|["float"]|[[2]]|["1"]|5|6|0)", "|||||0|0|0",
                                        "|||||8|0|0"));
}

TEST(ReaderLimits, unpacked_bytes_end_at_their_limit) {
  const std::string text = events(std::string(3000, ' '));
  const std::string packed = gzip(text);
  EXPECT_EQ(read_all(packed, {}, {.bytes_max = text.size()}).bytes, text.size());
  EXPECT_THAT(refusal(packed, {}, {.bytes_max = text.size() - 1}),
              HasSubstr("unpacks to more than " + std::to_string(text.size() - 1) + " bytes"));
}

TEST(ReaderLimits, the_ratio_counts_beyond_a_mebibyte) {
  const std::string small = events(std::string(900u << 10, ' '));
  const std::string large = events(std::string(1100u << 10, ' '));
  const UnpackLimits strict{.ratio_max = 20};
  EXPECT_EQ(read_all(gzip(small), {}, strict).bytes, small.size());
  EXPECT_THAT(refusal(gzip(large), {}, strict), HasSubstr("more than 20 times its size"));
  const double ratio = as_double(large.size()) / as_double(gzip(large).size());
  EXPECT_EQ(read_all(gzip(large), {}, {.ratio_max = 1.1 * ratio}).bytes, large.size());
  EXPECT_THAT(refusal(gzip(large), {}, {.ratio_max = ratio / 1.1}), HasSubstr("times its size"));
}

TEST(ReaderLimits, as_many_threads_as_4096_are_kept) {
  const auto of_threads = [](int count) {
    TraceText t;
    for (int i = 0; i < count; ++i) t.op("aten::mul", i, 0.5, "", "", 0, i);
    return t.text();
  };
  EXPECT_EQ(record(*bytes_of(of_threads(4096), "t"), "t").threads.size(), 4096u);
  test::expect_error([&] { record(*bytes_of(of_threads(4097), "t"), "t"); },
                     "more than 4096 threads");
}

TEST(ReaderLimits, names_may_fill_64_mebibytes) {
  TextTable table;
  const std::string half(31u << 20, 'a'), other(31u << 20, 'b');
  EXPECT_EQ(table.intern(half), 0u);
  EXPECT_EQ(table.intern(other), 1u);
  EXPECT_EQ(table.intern(half), 0u) << "known ones take no more";
  EXPECT_THROW(table.intern(std::string(3u << 20, 'c')), Error);
  EXPECT_EQ(table.size(), 2u);
}

}  // namespace
}  // namespace halmark::trace_test
