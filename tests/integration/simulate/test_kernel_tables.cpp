// Measured kernels and layers beside a model, and device files judged: whole commands.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const char* const flow = R"({
  "metadata": {"layer_id": 3, "total_dur_us": 40},
  "kernels": [
    {"name": "qkv", "category": "gemm_bf16", "half": "attn", "dur_us": 5.4,
     "operator": ["q_proj", "kv_proj"]},
    {"name": "one_of_two", "category": "rmsnorm", "dur_us": 2.0},
    {"name": "experts", "category": "moe", "half": "ffn", "dur_us": 30.1},
    {"name": "memset", "category": "other", "dur_us": 1.1},
    {"name": "mystery", "category": "fancy", "dur_us": 0.9}]})";

class KernelTables : public HalmarkTest {
 protected:
  Arguments qwen(Arguments more) const {
    Arguments out = {"model", "qwen3-235b-a22b", "--tp", "8", "--context", "1", "--device", "h20"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
};

TEST_F(KernelTables, json_is_one_document_with_every_row_and_every_microsecond) {
  write("flow.json", flow);
  for (const std::string& source :
       {std::string("flow.json"), std::string("@flow.json"), std::string(flow)}) {
    const Json data = data_of(qwen({"--kernel-flow", source}));
    const Json& kernels = data["kernels"];
    ASSERT_EQ(kernels["rows"].size(), 5u);
    EXPECT_NEAR(kernels["assigned_us"].get<double>(), 37.5, 1e-9);
    EXPECT_NEAR(kernels["overhead_us"].get<double>(), 1.1 + 0.5, 1e-9);
    EXPECT_NEAR(kernels["unknown_us"].get<double>(), 0.9, 1e-9);
    EXPECT_EQ(kernels["total_us"], 40);
    EXPECT_EQ(kernels["rows"][0]["flops"], 67'108'864 / 8 + 8'388'608 / 4);
    EXPECT_EQ(kernels["rows"][1]["status"], "ambiguous");
    EXPECT_TRUE(kernels["rows"][1]["mfu_pct"].is_null());
    EXPECT_EQ(kernels["rows"][4]["bucket"], "unknown");
  }
}

TEST_F(KernelTables, the_text_shows_every_row_and_the_line_of_conservation) {
  const Outcome o = halmark(qwen({"--kernel-flow", flow}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* name : {"qkv", "one_of_two", "experts", "memset", "mystery"}) {
    EXPECT_THAT(o.out, HasSubstr(name));
  }
  EXPECT_THAT(o.out, HasSubstr("assigned 37.5 + overhead 1.6 + unknown 0.9 = total 40 us"));
}

// o_proj reads 8192 x 4096 / 8 weights of two bytes: 2.097 us at the 4 TB/s of the device.
TEST_F(KernelTables, a_kernel_that_cannot_have_been_so_fast_is_counted_and_makes_no_figure) {
  const std::string fast = R"({"kernels": [
    {"name": "o", "category": "gemm_bf16", "dur_us": 0.0042, "operator": "o_proj"},
    {"name": "experts", "category": "moe", "half": "ffn", "dur_us": 30.1}]})";
  const Json kernels = data_of(qwen({"--kernel-flow", fast}))["kernels"];
  EXPECT_EQ(kernels["quarantined"]["kernels"], 1);
  EXPECT_EQ(kernels["quarantined"]["of"], 2);
  EXPECT_NEAR(kernels["quarantined"]["example"]["lower_bound_ns"].get<double>(), 2097, 1);
  EXPECT_NEAR(kernels["quarantined"]["example"]["time_ns"].get<double>(), 4.2, 1e-9);
  EXPECT_EQ(kernels["rows"][0]["is_quarantined"], true);
  EXPECT_TRUE(kernels["rows"][0]["mfu_pct"].is_null());
  EXPECT_EQ(kernels["rows"][1]["is_quarantined"], false);
  EXPECT_TRUE(kernels["mfu_pct"].is_null()) << "a sum with a false part is none";
  const Outcome o = halmark(qwen({"--kernel-flow", fast}));
  EXPECT_THAT(o.out, HasSubstr("1 of 2 kernels quarantined"));
  EXPECT_THAT(o.out, HasSubstr("0.004 us where at least 2.097 us are needed"));
  EXPECT_THAT(o.out, HasSubstr("kernels[0]"));
  EXPECT_THAT(halmark(qwen({"--per-layer-ms", "0.000001"})).out,
              HasSubstr("unknown: faster_than_roofline"));
}

TEST_F(KernelTables, the_time_of_a_layer_is_not_the_time_of_the_model) {
  const Json data = data_of(qwen({"--per-layer-ms", "0.1", "--kernel-ms", "{\"moe\": 0.03}"}));
  EXPECT_TRUE(data["mfu"].is_null());
  ASSERT_EQ(data["per_layer"].size(), 1u);
  EXPECT_EQ(data["per_layer"][0]["layers"], 94);
  EXPECT_EQ(data["kernels"]["rows"].size(), 1u);
  EXPECT_EQ(data["kernels"]["total_us"], 30);
}

TEST_F(KernelTables, tables_that_cannot_be_are_refused_with_one_line) {
  const auto refusal = [&](Arguments more) {
    const Outcome o = halmark(qwen(std::move(more)));
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(is_one_line(o.err));
    return o.err;
  };
  EXPECT_THAT(refusal({"--kernel-flow", "absent.json"}), HasSubstr("absent.json: cannot be read"));
  EXPECT_THAT(refusal({"--kernel-flow", "{\"kernels\": ["}), HasSubstr("--kernel-flow:1:"));
  EXPECT_THAT(refusal({"--kernel-flow", "{\"kernels\": [{\"category\": \"m\", \"dur_us\": NaN}]}"}),
              HasSubstr("--kernel-flow:1:"));
  EXPECT_THAT(refusal({"--kernel-flow", std::string(100'000, '[')}), HasSubstr("--kernel-flow"));
  EXPECT_THAT(refusal({"--kernel-flow", "."}), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal({"--kernel-ms", "{\"moe\": -1}"}), HasSubstr("moe: is -1"));
  EXPECT_THAT(refusal({"--kernel-ms", "{}", "--kernel-flow", "{}"}), HasSubstr("--kernel-ms"));
  EXPECT_THAT(refusal({"--per-layer-ms", "0"}), HasSubstr("no time"));
}

TEST_F(KernelTables, doctor_finds_a_sparse_figure_in_a_device_file_and_none_in_ours) {
  const Outcome ours = halmark({"doctor", "--devices"});
  EXPECT_EQ(ours.exit_code, 0) << ours.out;
  EXPECT_THAT(ours.out, HasSubstr("0 errors, 0 warnings"));

  write("sparse.toml",
        "id = 'mine'\nname = 'H100 SXM'\nkind = 'gpu'\n[[peak]]\npath = 'bf16_matrix'\n"
        "dtype = 'bf16'\nflops_per_s = 1979e12\nsource = 'a shop'\n");
  const Outcome sparse = halmark({"doctor", "--devices", "sparse.toml"});
  EXPECT_EQ(sparse.exit_code, 3);
  EXPECT_THAT(sparse.out, HasSubstr("sparse.toml:7:15: error: mine: bf16_matrix 1979 TFLOP/s is "
                                    "twice the 989.4 of h100-sxm: probably sparse"));
  EXPECT_EQ(halmark({"doctor", "--devices", path("")}).exit_code, 3) << "a folder";
  EXPECT_EQ(halmark({"doctor", "--devices", "absent.toml"}).exit_code, 2);
}

TEST_F(KernelTables, a_device_file_of_ones_own_prices_a_model) {
  write("mine.toml",
        "id = 'mine'\nname = 'Mine'\nkind = 'gpu'\n[[peak]]\npath = 'bf16_matrix'\n"
        "dtype = 'bf16'\nunits = 528\nfma_per_cycle = 512\nclock_hz = 1.83e9\n");
  const Json data =
      data_of({"model", "qwen3-0.6b", "--device", "mine.toml", "--measured-ms", "10"});
  EXPECT_NEAR(data["mfu"]["peak_flops_per_s"].get<double>(), 989.4e12, 0.1e12);
}

TEST_F(KernelTables, known_devices_have_every_figure_with_its_source_and_confidence) {
  const Json known = data_of({"devices", "--known"})["known"];
  EXPECT_GE(known.size(), 58u);
  for (const Json& device : known) {
    if (device["kind"] == "qpu-sim") continue;
    EXPECT_FALSE(device["peaks"].empty()) << device["id"];
    for (const Json& peak : device["peaks"]) {
      EXPECT_GT(peak["flops_per_s"].get<double>(), 0);
      EXPECT_NE(peak["source"], "");
    }
    if (!device.contains("links")) continue;
    for (const Json& link : device["links"]) EXPECT_NE(link["source"], "");
  }
}

}  // namespace
}  // namespace halmark::integration
