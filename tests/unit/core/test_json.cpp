#include "core/json.hpp"

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
