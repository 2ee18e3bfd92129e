// Reading: any block size, any damage, any shape of the outer document.

#include <sstream>

#include "gzip.hpp"
#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

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

}  // namespace
}  // namespace halmark::trace_test
