#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/numeric/cast.hpp"
#include "host/protocol.hpp"

namespace halmark::protocol {
namespace {

using Json = nlohmann::json;

Stage example_stage() {
  Stage stage;
  stage.id = 7;
  stage.kernel = "gemm_onednn";
  stage.problem = {"gemm", {{"m", 1}, {"n", 3072}, {"k", 1024}}};
  stage.config.params = {{"impl", 2}};
  stage.config.labels = {{"impl", "brg:avx512_core"}};
  stage.mode = CacheMode::rotate_all;
  stage.sets = 4;
  stage.seed = std::numeric_limits<std::uint64_t>::max();
  return stage;
}

// As it is written with the names of the code, and read back and written again.
template <class Message>
void expect_says(const Message& message, const char* text) {
  EXPECT_EQ(Json::parse(encode(message)), Json::parse(text));
  EXPECT_EQ(Json::parse(encode(decode<Message>(text))), Json::parse(text));
}

TEST(Protocol, every_field_of_every_message_survives_the_wire) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  expect_says(example_stage(), R"({"id": 7, "kernel": "gemm_onednn", "mode": "rotate_all",
      "problem": {"op": "gemm", "params": {"m": 1, "n": 3072, "k": 1024}},
      "config": {"params": {"impl": 2}, "labels": {"impl": "brg:avx512_core"}}, "sets": 4,
      "seed": 18446744073709551615, "rank": 0, "ranks": 1, "group": "", "witness": null})");
  expect_says(Staged{.id = 3,
                     .kernel = "g",
                     .implementation = {"brgemm:avx512", "avx512_core", "oneDNN", "2.6.3"},
                     .one_time = {1.5, 2.5, 3.5},
                     .workspace_bytes = 1,
                     .constant_bytes = large,
                     .sets = 9,
                     .nondeterministic = true,
                     .constants_opaque = true,
                     .constants_shared = true,
                     .witness = 3,
                     .memory = {{1, 2, 64, 3, 12288, true}, {StagedMemory::workspace}}},
              R"({"id": 3, "kernel": "g", "implementation": {"name": "brgemm:avx512",
      "isa": "avx512_core", "library": "oneDNN", "library_version": "2.6.3"},
      "one_time": {"create_ns": 1.5, "pack_ns": 2.5, "first_ns": 3.5}, "workspace_bytes": 1,
      "constant_bytes": 1099511627776, "sets": 9, "nondeterministic": true,
      "constants_opaque": true, "constants_shared": true, "witness": 3, "memory": [
      {"operand": 1, "bytes": 2, "alignment": 64, "buffers": 3, "allocated_bytes": 12288,
       "is_host": true}, {"operand": -1, "bytes": 0, "alignment": 0, "buffers": 0,
       "allocated_bytes": 0, "is_host": false}]})");
  expect_says(SampleRequest{.id = 5,
                            .rule = {Stop::count, 12, 3, 99, 0.5, 7, 2, 1.5, 0.25, 0.125},
                            .wall_cap_s = 8,
                            .barrier = Barrier{4, 3, 2},
                            .pilot_only = true,
                            .checks = OutputChecks{15, 4, ~std::uint64_t{0}, false, 8},
                            .checks_only = true},
              R"({"id": 5, "rule": {"stop": "count", "count": 12, "min_samples": 3,
      "max_samples": 99, "ci_half_width": 0.5, "min_sample_ns": 7.0, "repeat": 2,
      "warmup_cap_s": 1.5, "budget_s": 0.25, "disturbed_share": 0.125}, "wall_cap_s": 8.0,
      "barrier": {"parties": 4, "index": 3, "meeting": 2}, "pilot_only": true,
      "checks_only": true, "checks": {"executions": 15, "rows": 4,
      "seed": 18446744073709551615, "behind_loop": false, "redraws": 8}})");
  expect_says(Measured{.id = 1,
                       .stop_rule = StopReason::max_samples,
                       .repeat = 2,
                       .samples = 3,
                       .signals = {{"steal", std::nullopt, "no /proc/stat"}, {"load", 0.5, ""}},
                       .clock_hz = {2.5e9, std::nullopt},
                       .peak_flops = {std::nullopt, 1.5},
                       .environment = "e",
                       .kept = {{1, 2, 3, 64, 5, 6, true, 0}, {}},
                       .overwritten = {{1, 2, 3, 4, true}}},
              R"({"id": 1, "stop_rule": "max_samples", "repeat": 2, "samples": 3, "signals": [
      {"name": "steal", "value": null, "reason": "no /proc/stat"},
      {"name": "load", "value": 0.5, "reason": ""}], "clock_hz": {"before": 2.5e9, "after": null},
      "peak_flops": {"before": null, "after": 1.5}, "environment": "e", "kept": [
      {"sample": 1, "set": 2, "operand": 3, "begin": 64, "bytes": 5, "offset": 6, "at_once": true,
       "overwritten": 0}, {"sample": -1, "set": 0, "operand": 0, "begin": 0, "bytes": 0,
       "offset": 0, "at_once": false, "overwritten": null}], "overwritten": [
      {"operand": 1, "row": 2, "from_row": 3, "shift": 4, "whole": true}]})");
  expect_says(
      ProbeAnswer{{{"bf16_matrix", "avx512_core_amx", Dtype::bf16}}, {1e12, 2e12}, "r", 0.5},
      R"({"paths": [{"path": "bf16_matrix", "isa": "avx512_core_amx", "dtype": "bf16"}],
      "rates": [1e12, 2e12], "reason": "r", "cpu_share": 0.5})");
  expect_says(MemoryAnswer{large, "r", 5},
              R"({"set_size_bytes": 1099511627776, "reason": "r", "probe_bytes": 5})");
  EXPECT_FALSE(decode<MemoryAnswer>(encode(MemoryAnswer{})).set_size_bytes);
  expect_says(Hello{1, "t", 2, 3, "c", 4, 5, "b", {0, 2, 4}},
              R"({"protocol": 1, "token": "t", "arena_bytes": 2, "memory_limit_bytes": 3,
      "cache_dir": "c", "rank": 4, "pid": 5, "build": "b", "cpus": [0, 2, 4]})");
}

TEST(Protocol, a_figure_that_is_not_finite_is_neither_sent_nor_accepted) {
  Staged staged;
  staged.one_time.create_ns = std::nan("");
  EXPECT_THROW(encode(staged), ProtocolError);
  EXPECT_THROW(decode<ProbeAnswer>(R"({"paths":[],"rates":[1e999],"reason":""})"), ProtocolError);
  EXPECT_THROW(decode<ProbeAnswer>(R"({"paths":[],"rates":[null],"reason":""})"), ProtocolError);
}

TEST(Protocol, a_missing_or_mistyped_or_overflowing_field_is_refused_by_name) {
  EXPECT_EQ(decode<Drop>(R"({"id":5,"newer":true})").id, 5);
  for (const auto& [payload, named] : {std::pair{"{}", "id"},
                                       {R"({"id":"5"})", "id"},
                                       {R"({"id":1.5})", "id"},
                                       {R"({"id":9223372036854775808})", "id"},
                                       {"[]", "object"},
                                       {"{\"id\":", "JSON"},
                                       {"", "JSON"}}) {
    try {
      decode<Drop>(payload);
      ADD_FAILURE() << payload;
    } catch (const ProtocolError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(named)) << payload;
    }
  }
}

TEST(Protocol, a_list_longer_than_the_limit_is_refused_wherever_it_stands) {
  const std::string sent = encode(DomainsAnswer{{{.name = "tile", .values = {7}}}});
  const std::string list = R"("values":[)";
  const std::size_t at = sent.find(list) + list.size();
  ASSERT_GT(at, list.size()) << sent;
  std::string text = sent.substr(0, at);
  for (std::size_t i = 0; i < max_list_items; ++i) text += "1,";
  EXPECT_THROW((void)decode<DomainsAnswer>(text + sent.substr(at)), ProtocolError);
  EXPECT_NO_THROW((void)decode<DomainsAnswer>(sent));
}

TEST(Protocol, lists_and_depths_up_to_their_limits_are_read) {
  const auto rates = [](std::size_t count) {
    std::string text = R"({"paths":[],"reason":"","rates":[)";
    for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "1" : ",1";
    return text + "]}";
  };
  EXPECT_EQ(decode<ProbeAnswer>(rates(max_list_items)).rates.size(), max_list_items);
  EXPECT_THROW(decode<ProbeAnswer>(rates(max_list_items + 1)), ProtocolError);
  const auto nested = [](int depth) {
    return R"({"id":1,"x":)" + std::string(as_size(depth), '[') + std::string(as_size(depth), ']') +
           "}";
  };
  EXPECT_EQ(decode<Drop>(nested(max_json_depth)).id, 1);
  EXPECT_THROW(decode<Drop>(nested(max_json_depth + 1)), ProtocolError);
  EXPECT_THROW(decode<Drop>(nested(1'000'000)), ProtocolError) << "before the stack overflows";
}

TEST(Protocol, labels_are_text_by_name) {
  const std::string sent = encode(example_stage());
  const std::string labels = R"({"impl":"brg:avx512_core"})";
  const auto with = [&](const std::string& other) {
    return std::string(sent).replace(sent.find(labels), labels.size(), other);
  };
  EXPECT_NO_THROW(decode<Stage>(with(labels)));
  for (const char* bad : {R"(["impl"])", R"("impl")", R"({"a":1})", R"({"a":null})", "7", "null"}) {
    EXPECT_THROW(decode<Stage>(with(bad)), ProtocolError) << bad;
  }
}

TEST(Protocol, text_travels_as_it_is) {
  EXPECT_NE(encode(Refused{"5 \u00b5s"}).find("5 \u00b5s"), std::string::npos);
}

TEST(Protocol, text_that_is_not_utf8_still_makes_a_frame) {
  const auto read = decode<Refused>(encode(Refused{"bad \xff byte"}));
  EXPECT_THAT(read.reason, testing::StartsWith("bad "));
}

TEST(Protocol, closed_sets_travel_as_the_words_that_rows_and_output_show) {
  const auto is_written_as = [](auto message, const std::string& text) {
    return encode(message).find(text) != std::string::npos;
  };
  EXPECT_TRUE(is_written_as(SampleRequest{}, R"("stop":"auto")"));
  EXPECT_TRUE(is_written_as(SampleRequest{.rule = {.stop = Stop::count}}, R"("stop":"count")"));
  EXPECT_TRUE(is_written_as(Measured{}, R"("stop_rule":"")"));
  EXPECT_EQ(name_of(Timer::device_event), "device_event");
  EXPECT_EQ(name_of(ProbeKind::read), "read");
  const std::pair<StopReason, std::string_view> reasons[] = {
      {StopReason::none, ""},
      {StopReason::ci_width, "ci_width"},
      {StopReason::noise_settled, "noise_settled"},
      {StopReason::budget, "budget"},
      {StopReason::count, "count"},
      {StopReason::max_samples, "max_samples"},
      {StopReason::deadline, "deadline"},
      {StopReason::aborted, "aborted"},
      {StopReason::pilot, "pilot"},
  };
  for (const auto& [reason, word] : reasons) EXPECT_EQ(name_of(reason), word);
}

TEST(Protocol, a_field_that_came_later_may_be_missing_and_no_other) {
  const std::string whole = encode(ProbeRequest{});
  const auto without = [&](const std::string& field) {
    const std::size_t begin = whole.find(field);
    EXPECT_NE(begin, std::string::npos) << whole;
    return std::string(whole).erase(begin, field.size());
  };
  EXPECT_FALSE(decode<ProbeRequest>(without(",\"barrier\":null")).barrier);
  EXPECT_THROW(decode<ProbeRequest>(without("\"threads\":1,")), ProtocolError);
  const auto together = decode<ProbeRequest>(encode(ProbeRequest{.barrier = Barrier{2, 1}}));
  ASSERT_TRUE(together.barrier);
  EXPECT_EQ(together.barrier->index, 1);
}

TEST(Protocol, an_unknown_dtype_or_mode_or_word_of_a_closed_set_is_refused) {
  std::string probe = encode(ProbeRequest{});
  probe.replace(probe.find("peak_paths"), 10, "peak_pathz");
  EXPECT_THROW(decode<ProbeRequest>(probe), ProtocolError);

  for (const char* mode : {"rotate_xll", "in_stack"}) {
    std::string stage = encode(example_stage());
    stage.replace(stage.find("rotate_all"), 10, mode);
    EXPECT_THROW(decode<Stage>(stage), ProtocolError) << mode;
  }

  EXPECT_THROW(decode<ProbeAnswer>(
                   R"({"paths":[{"path":"p","isa":"i","dtype":"f99"}],"rates":[],"reason":""})"),
               ProtocolError);
}

}  // namespace
}  // namespace halmark::protocol
