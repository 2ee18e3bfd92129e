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

// A training step of the tiny model, 2 sequences of 16 tokens in 10 ms: each product forward in its
// module and twice backward outside of any, 20 us each; attention forward; an optimizer.
class TrainingTrace {
 public:
  TrainingTrace() {
    event("user_annotation", "ProfilerStep#3", 0, 10'000, "");
    for (int layer = 0; layer < 3; ++layer) {
      const std::string at = "model.layers." + std::to_string(layer) + '.';
      product(at + "self_attn.q_proj", 64, 128);
      product(at + "self_attn.k_proj", 64, 64);
      product(at + "self_attn.v_proj", 64, 64);
      attention(at + "self_attn");
      product(at + "self_attn.o_proj", 128, 64);
      for (const char* name : {"mlp.gate_proj", "mlp.up_proj"}) product(at + name, 64, 160);
      product(at + "mlp.down_proj", 160, 64);
    }
    product("lm_head", 64, 512);
    for (const auto& [in, out] : products_) {
      op("aten::mm", 20, sizes(32, out, in));  // of what went in
      op("aten::mm", 20, sizes(in, 32, out));  // of the weights
    }
    op("aten::add_", 1000, "[[64, 64], [64, 64]]");
  }
  std::string text() const { return "{\"schemaVersion\": 1, \"traceEvents\": [" + events_ + "]}"; }
  double products() const { return static_cast<double>(products_.size()); }

 private:
  static std::string sizes(int m, int k, int n) {
    return "[[" + std::to_string(m) + ", " + std::to_string(k) + "], [" + std::to_string(k) + ", " +
           std::to_string(n) + "]]";
  }
  void event(const char* category, const std::string& name, int begin, int us,
             const std::string& args) {
    events_ += std::string(events_.empty() ? "" : ",\n") + R"({"ph": "X", "cat": ")" + category +
               R"(", "name": ")" + name + R"(", "pid": 5, "tid": 1, "ts": )" +
               std::to_string(begin) + ", \"dur\": " + std::to_string(us) + ", \"args\": {" + args +
               "}}";
  }
  void op(const char* name, int us, const std::string& dims) {
    event("cpu_op", name, at_us_, us, "\"Input Dims\": " + dims);
    at_us_ += us + 1;
  }
  void product(const std::string& module, int in, int out) {
    event("user_annotation", module, at_us_, 24, "");
    at_us_ += 2;
    op("aten::mm", 20, sizes(32, in, out));
    at_us_ += 3;
    products_.emplace_back(in, out);
  }
  void attention(const std::string& module) {
    event("user_annotation", module, at_us_, 54, "");
    at_us_ += 2;
    op("aten::_scaled_dot_product_flash_attention_for_cpu", 50,
       "[[2, 4, 16, 32], [2, 2, 16, 32], [2, 2, 16, 32], [], [], [], []], \"Concrete Inputs\": "
       "[\"\", "
       "\"\", \"\", \"0.\", \"True\", \"\", \"0.17\"]");
    at_us_ += 3;
  }

  std::string events_;
  int at_us_ = 10;
  std::vector<std::pair<int, int>> products_;
};

TEST_F(TraceCommand, a_training_step_says_where_its_time_went_and_what_the_model_has) {
  const TrainingTrace step;
  write("training.json", step.text());
  const Arguments asked = {"trace", "training.json", "--compare", config, "--phase", "training"};
  const Outcome o = halmark(asked);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const std::string first = o.out.substr(0, o.out.find('\n'));
  EXPECT_THAT(first, testing::StartsWith("where the time went, a step of 10.0 ms: "));
  Arguments json = asked;
  json.push_back("--json");
  const Json data = data_of(json);
  const Json& causes = data["time"]["causes"];
  EXPECT_NEAR(causes["matmul"]["us"].get<double>(), 3 * 20 * step.products(), 1e-6);
  EXPECT_NEAR(causes["attention"]["us"].get<double>(), 3 * 50, 1e-6);
  EXPECT_NEAR(causes["elementwise"]["share"].get<double>(), 0.1, 1e-9);
  double sum = 0;
  for (const auto& [name, cause] : causes.items()) sum += cause["share"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_THAT(first, HasSubstr("matmul 13.2 %, elementwise 10.0 %, attention 1.5 %, no operator "));
  // Weights but the table of embeddings times tokens, and causal attention; three times.
  const double weights = 3 * (64 * 128 + 2 * 64 * 64 + 128 * 64 + 3 * 64 * 160) + 64 * 512;
  const double forward = 2 * 32 * weights + 3 * 4.0 * 2 * 4 * 32 * (16 * 17 / 2);
  const Json& flops = data["comparison"]["passes"][0]["flops"];
  EXPECT_NEAR(flops["model_flops"].get<double>(), 3 * forward, 1);
  EXPECT_NEAR(flops["trace_flops"].get<double>() / (3 * forward), 1, 0.03)
      << "all but the backward pass of attention, which no shape tells";
  EXPECT_THAT(o.out, HasSubstr("pass 0: a training step of 2 sequences of 16 tokens; "));
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
