#include "core/input/input_kind.hpp"
#include "core/json/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/full_values.hpp"

namespace halmark {
namespace {

using test::error_of;

std::string nested(int levels) {
  const auto n = static_cast<std::size_t>(levels);
  return std::string(n, '[') + std::string(n, ']');
}

Error refusal(const std::string& text) {
  Error error = error_of([&] { parse_json(text, "f.json"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error;
}

TEST(JsonGate, sixty_four_levels_pass_and_sixty_five_do_not) {
  EXPECT_NO_THROW(parse_json(nested(json_depth_max), "f.json"));
  EXPECT_EQ(refusal(nested(json_depth_max + 1)).line(), "f.json:1:65: nesting exceeds 64 levels");
  EXPECT_EQ(refusal(nested(200000)).where(), "f.json:1:65");
}

TEST(JsonGate, levels_that_are_closed_do_not_add_up) {
  std::string text = "[";
  for (int i = 0; i < 200; ++i) text += i > 0 ? ",[[]]" : "[[]]";
  EXPECT_NO_THROW(parse_json(text + ']', "f.json"));
}

TEST(JsonGate, a_repeated_key_is_refused_where_it_stands) {
  EXPECT_EQ(refusal("{\n  \"a\": 1,\n  \"b\": {\"a\": 2},\n  \"a\": 3\n}").line(),
            "f.json:4:3: key 'a' appears twice");
  EXPECT_EQ(refusal(R"({"q\"": 1, "q\"": 2})").where(), "f.json:1:12");
}

TEST(JsonGate, the_same_key_in_different_objects_is_no_repetition) {
  EXPECT_NO_THROW(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "f.json"));
}

TEST(JsonGate, a_number_that_a_double_cannot_hold_is_refused) {
  const Error error = refusal("{\"a\":\n 1e999}");
  EXPECT_NE(error.line().find("out of range"), std::string::npos) << error.line();
  EXPECT_TRUE(error.where().starts_with("f.json:2:")) << error.where();
}

TEST(JsonGate, malformed_text_is_refused_with_its_position) {
  EXPECT_TRUE(refusal("{\"a\": 1,\n  oops}").where().starts_with("f.json:2:3"));
  EXPECT_EQ(refusal("").where(), "f.json:1:1");
  for (const char* text : {"{", "[1,]", "nul", "{\"a\" 1}", "[1] 2", "'a'", "[NaN]", "\"\x01\"",
                           "\"\xff\"", "[1 /* comment */]"}) {
    EXPECT_TRUE(refusal(text).where().starts_with("f.json:1:")) << text;
  }
}

TEST(JsonGate, size_is_limited_on_both_sides_of_the_limit) {
  std::string text = "\"" + std::string(json_bytes_max - 2, 'x') + "\"";
  EXPECT_NO_THROW(parse_json(text, "f.json"));
  text.insert(1, "x");
  EXPECT_NE(refusal(text).line().find("16777217 bytes; the limit is 16777216"), std::string::npos);
}

TEST(JsonGate, the_number_of_values_is_limited_on_both_sides_of_the_limit) {
  // The array itself is one of them.
  std::string text = "[0";
  for (std::size_t i = 2; i < json_values_max; ++i) text += ",0";
  EXPECT_EQ(parse_json(text + "]", "f.json").size(), json_values_max - 1);
  const Error error = refusal(text + ",0]");
  EXPECT_NE(error.line().find("more than 2000000 values"), std::string::npos) << error.line();
}

// The library looks through all members for each new one: this took minutes.
TEST(JsonGate, an_object_of_a_million_keys_is_built_and_keeps_their_order) {
  std::string text = "{\"z\":0";
  for (int i = 0; i < 1'000'000; ++i) text += ",\"" + std::to_string(i) + "\":1";
  const Json json = parse_json(text + "}", "f.json");
  ASSERT_EQ(json.size(), 1'000'001u);
  EXPECT_EQ(json.begin().key(), "z");
  EXPECT_EQ(std::prev(json.end()).key(), "999999");
}

TEST(JsonGate, builds_what_the_library_builds) {
  for (const char* text :
       {R"({"a":[1,-2,3.5,true,false,null,"x",{"b":{}},[]],"c":{"d":[{"e":1},{"f":[2]}],"g":""}})",
        "[]", "{}", "3", "\"s\"", "null", R"([[[1],[2]],[],{"a":[]}])",
        R"({"a":18446744073709551615,"b":-9223372036854775808,"c":1e-300})"}) {
    EXPECT_EQ(parse_json(text, "f").dump(), Json::parse(text).dump());
  }
}

TEST(JsonGate, a_file_that_cannot_be_read_is_refused_by_name) {
  const Error error = error_of([] { read_json_file("/nonexistent/model.json"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), "/nonexistent/model.json");
}

TEST(JsonWriter, refuses_numbers_that_are_not_finite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(dump_json(Json{{"a", {1.0, bad}}}), std::logic_error);
    EXPECT_TRUE(optional_number(bad).is_null());
  }
  EXPECT_EQ(dump_json(optional_number(1.5)), "1.5");
  EXPECT_EQ(dump_json(optional_number(std::nullopt)), "null");
}

TEST(JsonWriter, replaces_bytes_that_are_no_utf8) {
  EXPECT_EQ(dump_json(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(JsonWriter, doubles_read_back_bit_for_bit) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789}) {
    EXPECT_EQ(parse_json(dump_json(Json(value)), "f").get<double>(), value);
  }
}

template <class Value>
Value round_trip(const Value& value) {
  return parse_json(dump_json(Json(value)), "round trip").template get<Value>();
}

// What is read replaces all of a value that held something before.
template <class Value>
void expect_replaced(const Value& full, const Value& empty) {
  Value value = full;
  Json(empty).get_to(value);
  EXPECT_EQ(dump_json(Json(value)), dump_json(Json(empty)));
  Json(full).get_to(value);
  EXPECT_EQ(dump_json(Json(value)), dump_json(Json(full)));
}

TEST(JsonValues, reading_leaves_nothing_of_what_was_there) {
  expect_replaced(test::full_measurement(), Measurement{});
  expect_replaced(test::full_evaluation(), Evaluation{});
  Evaluation measured = test::full_evaluation();
  measured.measured_ns = 5;
  measured.measured_interval_ns = Interval{1, 9};
  measured.standing = FrontStanding{FrontClass::possible, 0.5};
  measured.served = ServedEstimate{.is_saturated = true};
  expect_replaced(measured, Evaluation{});
  expect_replaced(test::full_deployment(), Configuration{});
}

TEST(JsonValues, a_measurement_reads_back_whole) {
  const Measurement m = test::full_measurement();
  const Measurement back = round_trip(m);
  EXPECT_EQ(dump_json(Json(back)), dump_json(Json(m)));
  EXPECT_EQ(back.kernel_case, m.kernel_case);
  EXPECT_EQ(back.kernel_case.key(), m.kernel_case.key());
  EXPECT_EQ(back.seed, m.seed);
  EXPECT_EQ(back.status, m.status);
  EXPECT_EQ(back.reason, m.reason);
  EXPECT_EQ(back.phase, m.phase);
  EXPECT_EQ(back.plugin_name + back.plugin_version + back.plugin_build + back.plugin_hash,
            m.plugin_name + m.plugin_version + m.plugin_build + m.plugin_hash);
  EXPECT_EQ(back.implementation, m.implementation);
  EXPECT_EQ(back.workspace_bytes, m.workspace_bytes);
  EXPECT_EQ(back.constant_bytes, m.constant_bytes);
  EXPECT_EQ(back.one_time.first_ns, m.one_time.first_ns);
  EXPECT_EQ(back.repeat, m.repeat);
  EXPECT_EQ(back.duration_ns_median, m.duration_ns_median);
  EXPECT_EQ(back.duration_ns_interval.high, m.duration_ns_interval.high);
  ASSERT_EQ(back.signals.size(), 2u);
  EXPECT_EQ(back.signals[0].value, m.signals[0].value);
  EXPECT_FALSE(back.signals[1].value) << "absent is not clean";
  EXPECT_EQ(back.signals[1].reason, "no cgroup");
  EXPECT_EQ(back.clock_hz_before, m.clock_hz_before);
  EXPECT_EQ(back.clock_hz_after, std::nullopt);
  EXPECT_EQ(back.correctness.worst_ratio, 0.75);
  EXPECT_EQ(back.environment, m.environment);
  EXPECT_EQ(back.bandwidth.before, 4.1e10);
  EXPECT_EQ(back.bandwidth.after, 3.9e10);
  EXPECT_EQ(back.bandwidth.age_s, 0.25);
  EXPECT_EQ(back.bandwidth.reason, m.bandwidth.reason);
}

TEST(JsonValues, a_measurement_from_before_the_bandwidth_was_read_says_so) {
  Json old = test::full_measurement();
  for (const char* key :
       {"bandwidth_before", "bandwidth_after", "bandwidth_age_s", "bandwidth_reason"}) {
    EXPECT_EQ(old.erase(key), 1U) << key;
  }
  const auto back = old.get<Measurement>();
  EXPECT_FALSE(back.bandwidth.before);
  EXPECT_EQ(back.bandwidth.reason, "not recorded");
}

TEST(JsonValues, a_ratio_beyond_numbers_never_reads_back_as_a_good_one) {
  Measurement m = test::full_measurement();
  m.correctness.worst_ratio = std::numeric_limits<double>::infinity();
  EXPECT_GT(round_trip(m).correctness.worst_ratio, 1);
}

TEST(JsonValues, an_evaluation_reads_back_whole) {
  const Evaluation e = test::full_evaluation();
  const Evaluation back = round_trip(e);
  EXPECT_EQ(dump_json(Json(back)), dump_json(Json(e)));
  EXPECT_EQ(back.configuration, e.configuration);
  EXPECT_EQ(back.configuration.key(), e.configuration.key());
  EXPECT_EQ(back.estimate->step_ns, e.estimate->step_ns);
  EXPECT_EQ(back.estimate->memory_bytes_total, e.estimate->memory_bytes_total);
  EXPECT_EQ(back.estimate->provenance, Provenance::interpolated);
  EXPECT_EQ(back.estimate->operators.at(0).provenance, Provenance::imported);
  EXPECT_EQ(back.estimate->operators.at(0).strategy, "tensor");
  EXPECT_EQ(back.measured_interval_ns->low, 1e6);
}

TEST(JsonValues, a_refused_evaluation_has_nulls_and_its_reason) {
  const Evaluation e{.configuration = test::full_deployment(),
                     .status = Status::refused,
                     .reason = "tp 3 does not divide 16 heads"};
  const Json json = e;
  EXPECT_TRUE(json.at("estimate").is_null());
  EXPECT_TRUE(json.at("measured_ns").is_null());
  const Evaluation back = round_trip(e);
  EXPECT_FALSE(back.estimate);
  EXPECT_FALSE(back.measured_ns);
  EXPECT_EQ(back.reason, e.reason);
}

// Databases know configurations by this text: nothing may come to it where nothing was stated.
TEST(JsonValues, a_layout_without_stages_is_written_as_it_always_was) {
  EXPECT_EQ(Json(Parallel{.dp = 2, .tp = 4, .pp = 1, .ep = 8}).dump(),
            R"({"tp":4,"pp":1,"dp":2,"ep":8})");
  EXPECT_EQ(Json(Parallel{.tp = 2, .cp = 4}).dump(), R"({"tp":2,"pp":1,"dp":1,"ep":1,"cp":4})");
  EXPECT_FALSE(Json(Configuration{.model = "m"}).contains("groups"));
}

TEST(JsonValues, stages_and_groups_of_layers_come_back) {
  Configuration d{.model = "m", .parallel = {.pp = 2, .stages = {10, 18}}};
  d.groups = {{.layers = 12, .dp = 2}, {.layers = 16, .tp = 2, .cp = 3}};
  EXPECT_EQ(round_trip(d), d);
  EXPECT_EQ(Json(d).at("parallel").at("stages").dump(), "[10,18]");
}

// As versions before types per kernel kind wrote it; the text is kept as it was.
TEST(JsonValues, a_configuration_of_five_types_and_four_degrees_reads_as_it_was_meant) {
  const Json old = parse_json(
      R"({"model":"qwen3-0.6b","workload":{"phase":"decode","batch":4,"new_tokens":1,
          "context":1024},"parallel":{"tp":2,"pp":1,"dp":1,"ep":1},
          "precision":{"name":"int8","linear":"s8","head":"f16","attention":"bf16",
                       "kv_cache":"f32","activation":"bf16"}})",
      "row");
  const auto d = old.get<Configuration>();
  EXPECT_EQ(d.key(), "qwen3-0.6b decode b4 n1 c1024 int8 dp1 tp2 pp1 ep1");
  EXPECT_EQ(d.parallel.cp, 1);
  EXPECT_FALSE(d.served);
  const Precision& p = d.precision;
  for (const Dtype linear : {p.qkv, p.output, p.ffn, p.experts}) EXPECT_EQ(linear, Dtype::s8);
  EXPECT_EQ(p.head, Dtype::f16);
  EXPECT_EQ(p.attention, Dtype::bf16);
  EXPECT_EQ(p.kv_cache, Dtype::f32);
  EXPECT_EQ(p.activation, Dtype::bf16);
  EXPECT_EQ(round_trip(d), d) << "what is written today has the same meaning";
}

TEST(JsonValues, the_format_of_packed_weights_was_in_the_name_of_old_rows) {
  for (const auto& [name, packed] : {std::pair{"mxfp4", PackedWeights::mxfp4},
                                     {"nvfp4", PackedWeights::nvfp4},
                                     {"f4_e2m1", PackedWeights::as_stated}}) {
    const Json old = {{"name", name},        {"linear", "f4_e2m1"}, {"head", "bf16"},
                      {"attention", "bf16"}, {"kv_cache", "bf16"},  {"activation", "bf16"}};
    const auto p = old.get<Precision>();
    EXPECT_EQ(p.packed, packed) << name;
    EXPECT_EQ(p.experts, Dtype::f4_e2m1);
    EXPECT_EQ(round_trip(p), p);
  }
}

TEST(JsonValues, a_precision_without_a_kind_is_an_error_and_no_default) {
  for (const KernelKindRow& row : kernel_kinds) {
    Json json = Precision::uniform("bf16", Dtype::bf16);
    json.erase(std::string(row.name));
    EXPECT_ANY_THROW(json.get<Precision>()) << row.name;
  }
}

TEST(JsonValues, a_degree_of_one_is_written_as_it_always_was) {
  EXPECT_EQ(dump_json(Json(Parallel{.dp = 1, .tp = 2})), R"({"tp":2,"pp":1,"dp":1,"ep":1})");
  EXPECT_EQ(round_trip(Parallel{.tp = 2, .cp = 4}), (Parallel{.tp = 2, .cp = 4}));
}

TEST(JsonValues, a_served_load_and_its_estimate_read_back_whole) {
  Evaluation e{.configuration = {.model = "m",
                                 .parallel = {.tp = 4},
                                 .precision = {.name = "f32"},
                                 .workload = {.routing_skew = 50},
                                 .served = ServedLoad{.request = {1000, 100},
                                                      .concurrency = 64,
                                                      .token_budget = 512}},
               .status = Status::ok,
               .reason = {},
               .estimate = {},
               .measured_ns = {},
               .measured_interval_ns = {},
               .standing = {},
               .served = ServedEstimate{.is_saturated = true, .has_interval = true}};
  e.served->figures = {.ttft_ns = 1,
                       .tpot_ns = 2,
                       .request_ns = 3,
                       .requests_per_s = 4,
                       .tokens_per_s = 5,
                       .tokens_per_s_per_device = 6,
                       .memory_bytes_per_rank = 7,
                       .memory_bytes = 8,
                       .energy_j_per_token = 9.0,
                       .usd_per_million_tokens = {},
                       .mfu = 0.5};
  e.served->fast = e.served->slow = e.served->figures;
  e.served->fast.ttft_ns = 0.5;
  e.served->slow.ttft_ns = 1.5;
  Evaluation back = round_trip(e);
  EXPECT_EQ(back.configuration, e.configuration);
  EXPECT_EQ(dump_json(Json(back)), dump_json(Json(e)));
  EXPECT_EQ(back.served->slow.ttft_ns, 1.5);
  EXPECT_EQ(back.served->figures.energy_j_per_token, 9.0);
  EXPECT_FALSE(back.served->figures.usd_per_million_tokens);

  e.configuration.served->mode = ServingMode::disaggregated;
  e.configuration.served->prefill = {.tp = 2};
  e.configuration.served->prefill_workers = 3;
  e.configuration.served->decode_workers = 2;
  back = round_trip(e);
  EXPECT_EQ(back.configuration, e.configuration);
  EXPECT_EQ(back.configuration.devices(), 3 * 2 + 2 * 4);
}

class UnknownNames : public testing::TestWithParam<const char*> {};

TEST_P(UnknownNames, in_a_stored_value_are_an_error_and_no_default) {
  Json json = test::full_measurement();
  json[Json::json_pointer(GetParam())] = "no such name";
  EXPECT_ANY_THROW(json.get<Measurement>());
}

INSTANTIATE_TEST_SUITE_P(Fields, UnknownNames,
                         testing::Values("/status", "/case/mode", "/case/problem/params/src_dtype"),
                         [](const auto& info) { return test::case_name({info.param}); });

}  // namespace
}  // namespace halmark
