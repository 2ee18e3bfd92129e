#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

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

TEST(Protocol, a_stage_request_is_readable_json_with_the_names_of_the_code) {
  const Json json = Json::parse(encode(example_stage()));
  EXPECT_EQ(json["kernel"], "gemm_onednn");
  EXPECT_EQ(json["problem"]["op"], "gemm");
  EXPECT_EQ(json["problem"]["params"]["k"], 1024);
  EXPECT_EQ(json["mode"], "rotate_all");
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Protocol, a_stage_request_survives_the_wire) {
  const Stage sent = example_stage();
  const auto read = decode<Stage>(encode(sent));
  EXPECT_EQ(read.problem, sent.problem);
  EXPECT_EQ(read.config, sent.config);
  EXPECT_EQ(read.mode, sent.mode);
  EXPECT_EQ(read.sets, 4);
  EXPECT_EQ(read.seed, sent.seed);
}

TEST(Protocol, every_field_of_every_message_survives_the_wire) {
  Staged staged;
  staged.id = 3;
  staged.implementation = {"brgemm:avx512", "avx512_core", "oneDNN", "2.6.3"};
  staged.one_time = {1.5, 2.5, 3.5};
  staged.workspace_bytes = 1;
  staged.constant_bytes = std::int64_t{1} << 40;
  staged.sets = 9;
  staged.nondeterministic = staged.constants_opaque = staged.constants_shared = true;
  staged.memory = {{1, 2, 64, 3, 12288, true}, {protocol::StagedMemory::workspace, 7, 4096, 1, 9}};
  EXPECT_EQ(encode(decode<Staged>(encode(staged))), encode(staged));
  staged.witness = 3;
  EXPECT_EQ(decode<Staged>(encode(staged)).witness, 3);
  SampleRequest checked;
  checked.checks = OutputChecks{15, 4, std::numeric_limits<std::uint64_t>::max(), true, 8};
  EXPECT_EQ(encode(decode<SampleRequest>(encode(checked))), encode(checked));
  EXPECT_EQ(decode<SampleRequest>(encode(checked)).checks->seed, checked.checks->seed);
  Measured kept;
  kept.kept = {{1, 2, 3, 64, 5, 6, true, 0}, {}};
  kept.overwritten.push_back({1, 2, 3, 4});
  EXPECT_EQ(encode(decode<Measured>(encode(kept))), encode(kept));
  EXPECT_EQ(decode<Measured>(encode(kept)).kept.at(0).overwritten, 0);
  const auto read = decode<Staged>(encode(staged));
  EXPECT_EQ(read.implementation, staged.implementation);
  EXPECT_EQ(read.one_time.first_ns, 3.5);
  EXPECT_EQ(read.constant_bytes, std::int64_t{1} << 40);
  EXPECT_TRUE(read.constants_shared);
  ASSERT_EQ(read.memory.size(), 2u);
  EXPECT_EQ(read.memory[0].allocated_bytes, 12288);
  EXPECT_TRUE(read.memory[0].is_host);
  EXPECT_EQ(read.memory[1].operand, StagedMemory::workspace);

  SampleRequest sample;
  sample.rule.stop = protocol::Stop::count;
  sample.rule.count = 12;
  sample.rule.budget_s = 0.25;
  sample.barrier = Barrier{4, 3};
  sample.pilot_only = true;
  const auto sample_read = decode<SampleRequest>(encode(sample));
  EXPECT_EQ(sample_read.rule.stop, Stop::count);
  EXPECT_EQ(sample_read.rule.count, 12);
  EXPECT_EQ(sample_read.rule.budget_s, 0.25);
  ASSERT_TRUE(sample_read.barrier);
  EXPECT_EQ(sample_read.barrier->index, 3);
  EXPECT_TRUE(sample_read.pilot_only);
  EXPECT_FALSE(decode<SampleRequest>(encode(SampleRequest{})).barrier);

  Measured measured;
  measured.signals = {{"steal", std::nullopt, "no /proc/stat"}, {"load", 0.5, ""}};
  measured.clock_hz.before = 2.5e9;
  measured.stop_rule = StopReason::max_samples;
  const auto measured_read = decode<Measured>(encode(measured));
  ASSERT_EQ(measured_read.signals.size(), 2u);
  EXPECT_FALSE(measured_read.signals[0].value);
  EXPECT_EQ(measured_read.signals[0].reason, "no /proc/stat");
  EXPECT_EQ(measured_read.signals[1].value, 0.5);
  EXPECT_EQ(measured_read.clock_hz.before, 2.5e9);
  EXPECT_FALSE(measured_read.clock_hz.after);
  EXPECT_EQ(measured_read.stop_rule, StopReason::max_samples);

  ProbeAnswer probe;
  probe.paths = {{"bf16_matrix", "avx512_core_amx", Dtype::bf16}};
  probe.rates = {1e12, 2e12};
  const auto probe_read = decode<ProbeAnswer>(encode(probe));
  EXPECT_EQ(probe_read.paths.at(0).dtype, Dtype::bf16);
  EXPECT_EQ(probe_read.rates, probe.rates);

  const MemoryAnswer memory{.set_size_bytes = 1ll << 40, .reason = "r", .probe_bytes = 5};
  const auto memory_read = decode<MemoryAnswer>(encode(memory));
  EXPECT_EQ(memory_read.set_size_bytes, 1ll << 40);
  EXPECT_EQ(memory_read.reason, "r");
  EXPECT_EQ(memory_read.probe_bytes, 5);
  EXPECT_FALSE(decode<MemoryAnswer>(encode(MemoryAnswer{})).set_size_bytes);

  Hello hello;
  hello.cpus = {0, 2, 4};
  EXPECT_EQ(decode<Hello>(encode(hello)).cpus, hello.cpus);
}

TEST(Protocol, a_figure_that_is_not_finite_is_neither_sent_nor_accepted) {
  Staged staged;
  staged.one_time.create_ns = std::nan("");
  EXPECT_THROW(encode(staged), ProtocolError);
  EXPECT_THROW(decode<ProbeAnswer>(R"({"paths":[],"rates":[1e999],"reason":""})"), ProtocolError);
  EXPECT_THROW(decode<ProbeAnswer>(R"({"paths":[],"rates":[null],"reason":""})"), ProtocolError);
}

TEST(Protocol, a_missing_or_mistyped_or_overflowing_field_is_refused_by_name) {
  const auto message_of = [](std::string_view payload) {
    try {
      decode<Drop>(payload);
    } catch (const ProtocolError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(decode<Drop>(R"({"id":5,"newer":true})").id, 5);
  EXPECT_THAT(message_of("{}"), testing::HasSubstr("id"));
  EXPECT_THAT(message_of(R"({"id":"5"})"), testing::HasSubstr("id"));
  EXPECT_THAT(message_of(R"({"id":1.5})"), testing::HasSubstr("id"));
  EXPECT_THAT(message_of(R"({"id":9223372036854775808})"), testing::HasSubstr("id"));
  EXPECT_THAT(message_of("[]"), testing::HasSubstr("object"));
  EXPECT_THAT(message_of("{\"id\":"), testing::HasSubstr("JSON"));
  EXPECT_THAT(message_of(""), testing::HasSubstr("JSON"));
}

TEST(Protocol, nesting_beyond_the_limit_is_refused_instead_of_overflowing_the_stack) {
  const auto nested = [](int depth) {
    return R"({"id":1,"x":)" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(decode<Drop>(nested(max_json_depth - 2)).id, 1);
  EXPECT_THROW(decode<Drop>(nested(max_json_depth + 1)), ProtocolError);
  EXPECT_THROW(decode<Drop>(nested(1'000'000)), ProtocolError);
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
    return R"({"id":1,"x":)" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(decode<Drop>(nested(max_json_depth)).id, 1);
  EXPECT_THROW(decode<Drop>(nested(max_json_depth + 1)), ProtocolError);
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
