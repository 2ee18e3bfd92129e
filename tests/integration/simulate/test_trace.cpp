// halmark trace: the real traces of tests/data through the program, and what it refuses.
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const std::string data = test::in_source("/tests/data/");
const std::string sdpa = data + "tiny-qwen3-sdpa.trace.json.gz";
const std::string config = data + "tiny-qwen3.json";

class TraceCommand : public HalmarkTest {};

TEST_F(TraceCommand, a_real_trace_is_what_the_model_says) {
  const Outcome o = halmark({"trace", sdpa, "--compare", config});
  EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, HasSubstr("model.layers.2.self_attn.q_proj"));
  EXPECT_THAT(o.out,
              HasSubstr("38 ok, 0 mismatch, 0 missing in trace, 0 not in model, 0 unknown; 0 "
                        "unexplained operators"));
}

TEST_F(TraceCommand, json_has_every_pass_row_and_verdict) {
  const Json out = data_of({"trace", sdpa, "--compare", config, "--json"});
  EXPECT_EQ(out["passes"].size(), 2u);
  EXPECT_EQ(out["passes"][0]["stage"], "prefill");
  EXPECT_EQ(out["passes"][1]["stage"], "decode");
  EXPECT_EQ(out["comparison"]["verdicts"]["ok"], 38);
  EXPECT_EQ(out["comparison"]["unexplained"], 0);
  EXPECT_EQ(out["comparison"]["passes"][1]["workload"]["context"], 17);
  for (const Json& row : out["rows"]) {
    EXPECT_EQ(row["matmul_flops"].is_null(), row.contains("matmul_flops_reason")) << row;
  }
}

TEST_F(TraceCommand, a_difference_ends_with_exit_code_3) {
  const Outcome o = halmark({"trace", sdpa, "--compare", "qwen3-0.6b"});
  EXPECT_EQ(o.exit_code, 3);
  EXPECT_THAT(o.out, HasSubstr("mismatch"));
  // The sizes given are not those of the trace.
  EXPECT_EQ(halmark({"trace", sdpa, "--compare", config, "--phase", "prefill", "--batch", "4",
                     "--new-tokens", "16"})
                .exit_code,
            3);
}

// A product of the trace may be of a part that the model computes by a recurrence.
TEST_F(TraceCommand, a_model_of_another_architecture_is_a_difference_like_any_other) {
  for (const char* other : {"tiny-nemotron-h.json", "tiny-qwen3-next.json"}) {
    const Outcome o = halmark({"trace", sdpa, "--compare", data + other});
    EXPECT_EQ(o.exit_code, 3) << other << o.err;
    EXPECT_THAT(o.out, HasSubstr("not in model"));
    EXPECT_THAT(o.out, testing::Not(HasSubstr(" 0 not in model"))) << other;
  }
}

TEST_F(TraceCommand, recipes_need_no_file_and_a_trace_does) {
  EXPECT_THAT(halmark({"trace", "--recipe", "vllm"}).out, HasSubstr("--profiler-config"));
  EXPECT_EQ(data_of({"trace", "--recipe", "trtllm"})["engine"], "trtllm");
  EXPECT_EQ(halmark({"trace", "--recipe", "other"}).exit_code, 2);
  const Outcome nothing = halmark({"trace"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no trace is named"));
}

TEST_F(TraceCommand, filters_choose_rows) {
  const auto rows = [&](Arguments more) {
    Arguments all = {"trace", sdpa, "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return data_of(all)["rows"];
  };
  const Json layer = rows({"--layers", "1", "--category", "matmul", "--stage", "decode"});
  EXPECT_EQ(layer.size(), 7u);
  for (const Json& row : layer) EXPECT_EQ(row["layer"], 1);
  EXPECT_EQ(rows({"--layers", "0..1", "--category", "attention"}).size(), 4u);
  // gate, up and down of a prefill layer: 2 x 32 x 64 x 160.
  EXPECT_EQ(rows({"--min-flops", "655360", "--stage", "prefill"}).size(), 9u);
}

#ifdef HALMARK_HAS_CPU
// 4 layers of 7 products, and the head: all of them have a kernel here.
TEST_F(TraceCommand, steps_are_predicted_by_kernels_measured_here) {
  know_peaks();
  const Outcome nobody = halmark({"trace", sdpa, "--predict", "--backend", "cpuu"});
  EXPECT_EQ(nobody.exit_code, 5);
  EXPECT_TRUE(is_one_line(nobody.err)) << nobody.err;
  const Json out = data_of(
      {"trace", sdpa, "--predict", "--rounds", "1", "--seconds", "0.01", "--json"})["predictions"];
  ASSERT_EQ(out.size(), 2u) << "prefill and decode";
  for (const Json& step : out) {
    double measured_ns = 0;
    for (const Json& kernel : step["kernels"]) {
      if (kernel["source"] == "measured") {
        measured_ns += kernel["count"].get<double>() * kernel["measured_ns"].get<double>();
      }
    }
    EXPECT_NEAR(step["measured_ns"].get<double>(), measured_ns, 1e-6 * measured_ns);
    EXPECT_NEAR(step["step_ns"].get<double>(), measured_ns + step["traced_ns"].get<double>(),
                1e-6 * step["step_ns"].get<double>());
    EXPECT_LE(step["step_low_ns"], step["step_ns"]);
    EXPECT_GE(step["step_high_ns"], step["step_ns"]);
  }
}
#endif

TEST_F(TraceCommand, bad_input_is_one_line) {
  write("cut.json", R"({"traceEvents": [{"ph": "X", "na)");
  write("empty.json", R"({"traceEvents": []})");
  write("nopass.json", R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add",
    "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {}}]})");
  struct Case {
    Arguments arguments;
    const char* expected;
  };
  const std::vector<Case> table = {
      {{"trace", "absent.json"}, "absent.json: cannot be read"},
      {{"trace", "cut.json"}, "cut.json:byte 32"},
      {{"trace", "empty.json"}, "no operators"},
      {{"trace", sdpa, "--layers", "5..2"}, "'5..2' is no range"},
      {{"trace", sdpa, "--compare", "qwen3-0.7b"}, "'qwen3-0.6b'"},
      {{"trace", sdpa, "--compare", config, "--tp", "3"}, "tp 3"},
      {{"trace", sdpa, "--compare", config, "--stage", "mixed"}, "no pass of the trace"},
      {{"trace", "nopass.json", "--predict"}, "no pass to predict"},
      {{"trace", sdpa, "--max-unpacked-mib", "1"}, "more than 1048576 bytes"},
  };
  for (const Case& c : table) {
    const Outcome o = halmark(c.arguments);
    EXPECT_EQ(o.exit_code, 2) << c.expected;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    EXPECT_THAT(o.err, HasSubstr(c.expected));
    EXPECT_EQ(o.out, "");
  }
}

}  // namespace
}  // namespace halmark::integration
