// What a person can get wrong: one line on stderr that names the place, what was found and the
// nearest thing that would do; the documented exit code; nothing on stdout, nothing written.
#include <algorithm>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

struct BadInput {
  const char* name;
  Arguments arguments;                // "SWEEP" is replaced by the path of `sweep`
  std::vector<std::string> expected;  // parts of the line
  int exit_code = 2;
  std::string sweep;  // text of a sweep file
};
void PrintTo(const BadInput& input, std::ostream* out) { *out << input.name; }

const char* const good_head = "name = \"x\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"f32\"]\n";
const char* const good_work = "[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 64\n";

BadInput sweep(const char* name, const std::string& text, std::vector<std::string> expected) {
  return {name, {"tune", "SWEEP", "--plan"}, std::move(expected), 2, text};
}

Arguments gemm(Arguments more) {
  Arguments out = {"bench", "--op", "gemm", "--backend", "fake"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

const Arguments small = {"--params", "m=4,n=4,k=4", "--dtype", "f32"};

Arguments small_gemm(Arguments more) {
  more.insert(more.begin(), small.begin(), small.end());
  return gemm(more);
}

std::vector<BadInput> table() {
  const std::string head = good_head, work = good_work;
  return {
      sweep("unknown_key", head + "smapler = \"grid\"\n" + work,
            {"bad.toml:4:1", "'smapler'", "'sampler'"}),
      sweep("unknown_key_in_a_table", head + work + "[measure]\nround = 3\n",
            {"bad.toml:9:1", "'round'", "[measure]", "'rounds'"}),
      sweep("wrong_type", head + "budget_s = \"long\"\n" + work,
            {"bad.toml:4:12", "budget_s", "a number"}),
      sweep("wrong_type_in_a_list", head + "[[workload]]\nphase = \"decode\"\nbatch = [1, \"2\"]\n",
            {"bad.toml:6:13", "batch", "integers"}),
      sweep("out_of_range", head + "trials = -1\n" + work, {"bad.toml:4:10", "trials", "-1"}),
      sweep("missing_key", "name = \"x\"\n" + work, {"bad.toml:", "'model'", "missing"}),
      sweep("unknown_sampler", head + "sampler = \"nsga4\"\n" + work,
            {"bad.toml:4:11", "'nsga4'", "'nsga2'"}),
      sweep("unknown_strategy", head + "strategies = [\"tensr\"]\n" + work,
            {"bad.toml:4:", "'tensr'", "'tensor'"}),
      sweep("unknown_dtype_in_a_sweep", "name = \"x\"\nmodel = \"qwen3-0.6b\"\ndtypes = \"bf17\"\n",
            {"bad.toml:3:10", "'bf17'", "'bf16'"}),
      sweep("unknown_phase", head + "[[workload]]\nphase = \"decod\"\n",
            {"bad.toml:5:9", "'decod'", "'decode'"}),
      sweep("training_sweep", head + "[[workload]]\nphase = \"training\"\nbatch = 1\n",
            {"bad.toml:5:9", "'training'", "not measured"}),
      {"training_run",
       {"run", "qwen3-0.6b", "--phase", "training"},
       {"'training'", "not measured"}},
      sweep("no_toml", head + "= 3\n", {"bad.toml:4:1"}),
      sweep("no_workload", head, {"bad.toml", "[[workload]]"}),
      sweep("context_below_new_tokens",
            head + "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 9\ncontext = 8\n",
            {"bad.toml:8:11", "context 8", "new_tokens 9"}),
      {"missing_sweep", {"tune", "absent.toml"}, {"absent.toml", "cannot be read"}},
      {"unknown_command", {"tuen"}, {"'tuen'", "'tune'"}},
      {"question_with_the_name_of_a_command",
       {"can", "I", "run", "qwen3-32b", "on", "two", "4090s"},
       {"no command", "halmark model qwen3-32b --device rtx-4090 --devices 2"}},
      {"no_command", {"--quiet"}, {"subcommand", "halmark --help"}},
      {"unknown_option", {"tune", "x.toml", "--smapler=grid"}, {"'--smapler'", "'--sampler'"}},
      {"unknown_global_option", {"devices", "--qiet"}, {"'--qiet'", "'--quiet'"}},
      {"missing_argument", {"tune"}, {"sweep"}},
      {"extra_argument", {"devices", "extra"}, {"'extra'"}},
      {"unknown_colour", {"devices", "--color", "mauve"}, {"mauve", "never"}},
      {"unknown_model", {"model", "qwen3-0.7b"}, {"'qwen3-0.7b'", "'qwen3-0.6b'"}},
      {"missing_model_file", {"model", "./absent.json"}, {"./absent.json", "cannot be read"}},
      {"impossible_split", {"model", "qwen3-0.6b", "--tp", "3"}, {"tp 3", "16 query heads"}},
      {"impossible_batch", {"model", "qwen3-0.6b", "--batch", "-1"}, {"batch", "-1"}},
      {"batch_is_no_number", {"model", "qwen3-0.6b", "--batch", "x"}, {"--batch", "x"}},
      {"unknown_model_phase", {"model", "qwen3-0.6b", "--phase", "decod"}, {"'decod'", "'decode'"}},
      {"unknown_model_dtype", {"model", "qwen3-0.6b", "--dtype", "bf17"}, {"'bf17'", "'bf16' or"}},
      {"unknown_kernel_kind",
       {"model", "qwen3-0.6b", "--precision", "kv_cach=s8"},
       {"'kv_cach'", "'kv_cache'"}},
      {"kernel_kind_without_a_conversion",
       {"model", "qwen3-0.6b", "--precision", "ffn=f16"},
       {"dtype_unsupported", "ffn in f16", "bf16"}},
      {"cache_that_nothing_executes",
       {"run", "qwen3-0.6b", "--precision", "kv_cache=s8"},
       {"KV cache of s8", "priced, not measured"}},
      sweep("swept_cache_that_nothing_executes",
            head + "[precision]\nkv_cache = \"fp8\"\n[[workload]]\nphase = \"decode\"\n"
                   "batch = 1\ncontext = 8\n",
            {"KV cache of f8_e4m3fn", "priced, not measured"}),
      sweep("unknown_swept_kind", head + "[precision]\nkvcache = \"fp8\"\n",
            {"bad.toml:5:1", "kv_cache"}),
      {"packed_weights_that_the_model_has_not",
       {"model", "qwen3-0.6b", "--dtype", "f4_e2m1"},
       {"dtype_unsupported", "states no 4-bit weights", "nvfp4"}},
      {"drafts_without_modules",
       {"model", "qwen3-0.6b", "--mtp", "1"},
       {"no_prediction_modules", "qwen3-0.6b"}},
      {"drafts_below_zero", {"model", "deepseek-v3", "--mtp", "-1"}, {"--mtp"}},
      {"acceptance_beyond_one",
       {"model", "deepseek-v3", "--mtp", "1", "--acceptance", "1.5"},
       {"--acceptance", "0..1"}},
      {"acceptance_without_drafts",
       {"model", "deepseek-v3", "--acceptance", "0.5"},
       {"--acceptance", "--mtp"}},
      {"unknown_known_device", {"model", "qwen3-0.6b", "--device", "h20O"}, {"'h20O'", "'h200'"}},
      {"unknown_convention", {"model", "qwen3-0.6b", "--convention", "plam"}, {"'plam'", "'palm'"}},
      {"unknown_switch",
       {"model", "qwen3-0.6b", "--set", "atention=full"},
       {"'atention'", "'attention'"}},
      {"unknown_switch_value",
       {"model", "qwen3-0.6b", "--set", "attention=ful"},
       {"'ful'", "'full'"}},
      {"switch_without_value",
       {"model", "qwen3-0.6b", "--set", "full"},
       {"'full'", "switch=value"}},
      {"unknown_explained_operator",
       {"model", "qwen3-0.6b", "--explain", "q_prj"},
       {"'q_prj'", "'q_proj'"}},
      {"denormal_measured_time",
       {"model", "qwen3-0.6b", "--measured-ms", "1e-310"},
       {"--measured-ms", "1e-7"}},
      {"zero_measured_time", {"model", "qwen3-0.6b", "--measured-ms", "0"}, {"--measured-ms"}},
      {"infinite_measured_time",
       {"model", "qwen3-0.6b", "--measured-ms", "inf"},
       {"--measured-ms"}},
      {"measured_time_is_no_number",
       {"model", "qwen3-0.6b", "--measured-ms", "nan"},
       {"--measured-ms"}},
      {"devices_that_nobody_uses",
       {"model", "qwen3-0.6b", "--tp", "2", "--devices", "4"},
       {"device_count_mismatch", "4", "tp2"}},
      {"context_split_of_one_token", {"model", "qwen3-0.6b", "--cp", "2"}, {"cp 2", "decode"}},
      {"context_split_of_a_recurrence",
       {"model", "qwen3-next", "--phase", "prefill", "--context", "64", "--cp", "2"},
       {"cp_not_defined", "recurrent"}},
      {"context_split_that_does_not_divide",
       {"model", "qwen3-0.6b", "--phase", "prefill", "--context", "60", "--cp", "8"},
       {"2 x cp 8 = 16", "60"}},
      {"context_split_of_a_sweep", {"run", "qwen3-0.6b", "--cp", "2"}, {"--cp"}},
      {"chunks_without_a_delta_rule",
       {"model", "qwen3-0.6b", "--phase", "prefill", "--context", "64", "--delta-chunk", "16"},
       {"delta_chunk 16"}},
      {"weights_that_are_not_there",
       {"model", "--weights", "nowhere.gguf"},
       {"nowhere.gguf", "cannot be read", "name a file of weights"}},
      {"weights_by_no_name", {"model", "--weights", "weights.pt"}, {"weights.pt", "FILE.gguf"}},
      {"drafts_of_a_split_sequence",
       {"model", "deepseek-v3", "--mtp", "1", "--cp", "2"},
       {"--mtp", "--cp"}},
      {"trained_modules_that_are_not_there",
       {"model", "qwen3-0.6b", "--phase", "training", "--mtp", "1"},
       {"no_prediction_modules", "qwen3-0.6b"}},
      {"trained_drafts_with_an_acceptance",
       {"model", "deepseek-v3", "--phase", "training", "--mtp", "1", "--acceptance", "0.5"},
       {"--acceptance", "decode"}},
      {"unknown_loss",
       {"model", "qwen3-0.6b", "--phase", "training", "--loss", "plane"},
       {"'plane'", "'plain'"}},
      {"documents_below_a_token",
       {"model", "qwen3-0.6b", "--phase", "training", "--set", "documents=0"},
       {"documents", "whole"}},
      {"documents_longer_than_a_sequence",
       {"model", "qwen3-0.6b", "--phase", "training", "--new-tokens", "64", "--set",
        "documents=65"},
       {"shorter than one", "documents=whole"}},
      {"training_options_without_training",
       {"model", "qwen3-0.6b", "--zero", "1"},
       {"decode", "--phase training"}},
      {"unknown_recomputation",
       {"model", "qwen3-0.6b", "--phase", "training", "--recompute", "ful"},
       {"'ful'", "'full'"}},
      {"unknown_optimizer",
       {"model", "qwen3-0.6b", "--phase", "training", "--optimizer", "adan"},
       {"'adan'", "'adam'"}},
      {"zero_without_replicas",
       {"model", "qwen3-0.6b", "--phase", "training", "--zero", "1"},
       {"zero 1", "dp is 1"}},
      {"training_in_int8",
       {"model", "qwen3-0.6b", "--phase", "training", "--dtype", "int8"},
       {"int8", "gradient"}},
      {"micro_batch_that_does_not_divide",
       {"model", "qwen3-0.6b", "--phase", "training", "--batch", "8", "--micro-batch", "3"},
       {"micro_batch 3", "8"}},
      {"micro_batch_of_nothing",
       {"model", "qwen3-0.6b", "--phase", "training", "--micro-batch", "0"},
       {"--micro-batch"}},
      {"training_with_a_cache",
       {"model", "qwen3-0.6b", "--phase", "training", "--new-tokens", "64", "--context", "65"},
       {"context 65", "new_tokens 64"}},
      {"measured_peak_of_a_datasheet",
       {"model", "qwen3-0.6b", "--peak", "measured", "--device", "h200"},
       {"'h200'", "halmark peaks"}},
      {"unknown_listed_model", {"models", "qwen3-0.7"}, {"'qwen3-0.7'", "'qwen3-"}},
      {"plan_without_a_job", {"plan-size", "qwen3-0.6b", "--device", "h200"}, {"--tokens"}},
      {"plan_of_two_jobs",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--tokens", "1e9", "--requests-per-s", "1"},
       {"one job"}},
      {"plan_without_time",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--tokens", "1e9"},
       {"--days", "--devices"}},
      {"plan_without_a_device", {"plan-size", "qwen3-0.6b", "--tokens", "1e9"}, {"--device"}},
      {"plan_above_the_peak",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--tokens", "1e9", "--days", "1", "--mfu",
        "1.5"},
       {"--mfu", "1.5"}},
      {"plan_for_no_tokens",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--tokens", "0", "--days", "1"},
       {"--tokens", "0"}},
      {"plan_without_lengths",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--requests-per-s", "1", "--input", "0"},
       {"--input"}},
      {"plan_with_an_unknown_level",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--users", "5", "--slo", "bogus=3"},
       {"--slo", "bogus"}},
      {"plan_on_no_device",
       {"plan-size", "qwen3-0.6b", "--device", "h200", "--users", "5", "--tp", "0"},
       {"--tp", "0 devices"}},
      {"plan_that_fits_nowhere",
       {"plan-size", "llama-3.1-405b", "--device", "h200", "--tokens", "1e12", "--devices", "8"},
       {"out_of_memory", "8"}},
      {"unknown_op", {"bench", "--op", "gem", "--dtype", "f32"}, {"'gem'", "'gemm'"}},
      {"unknown_dtype", gemm({"--dtype", "f31"}), {"'f31'", "'f32'"}},
      {"unknown_param",
       gemm({"--dtype", "f32", "--params", "m=4,n=4,k=4,wei_tran=1"}),
       {"'wei_tran'; did you mean 'wei_trans'"}},
      {"missing_param", gemm({"--dtype", "f32", "--params", "m=4,n=4"}), {"'k'"}},
      {"param_is_no_number", gemm({"--dtype", "f32", "--params", "m=x"}), {"'x'", "m"}},
      {"param_without_value", gemm({"--dtype", "f32", "--params", "m"}), {"'m'", "name=value"}},
      {"params_without_bracket",
       gemm({"--dtype", "f32", "--params", "m=[1,2"}),
       {"'[' without ']'", "name=[64,4096]"}},
      {"range_without_step",
       gemm({"--dtype", "f32", "--params", "m=[1..8]"}),
       {"'1..8'", "m", "[64..4096*2]"}},
      {"ranks_that_do_not_divide",
       {"bench", "--op", "all_to_all", "--params", "bytes=20,ranks=3", "--dtype", "f32",
        "--backend", "fake"},
       {"bytes=20", "3 ranks"}},
      {"param_out_of_range", gemm({"--dtype", "f32", "--params", "m=4,n=4,k=0"}), {"k=0", "1.."}},
      {"unknown_mode", small_gemm({"--mode", "hto"}), {"hto", "hot"}},
      {"unknown_device", small_gemm({"--device", "7"}), {"'7'", "0"}},
      {"unknown_kernel", small_gemm({"--kernel", "fake_gem"}), {"'fake_gem'", "'fake_gemm'"}},
      {"absent_backend",
       {"bench", "--op", "gemm", "--params", "m=4,n=4,k=4", "--dtype", "f32", "--backend", "tpu"},
       {"'tpu'", "found: ", "fake"},
       5},
      {"database_url",
       small_gemm({"--db", "mysql://host/name"}),
       {"mysql://", "results cannot be kept"}},
      {"no_database", {"report", "--db", "absent.db"}, {"absent.db", "halmark tune"}},
      {"no_database_to_verify", {"verify", "absent.db"}, {"absent.db"}},
      {"foreign_database",
       {"verify", "SWEEP"},
       {"bad.toml", "not a results database"},
       2,
       "text\n"},
  };
}

class Refusal : public HalmarkTest, public testing::WithParamInterface<BadInput> {};

TEST_P(Refusal, is_one_line_with_its_exit_code_and_writes_nothing) {
  const BadInput& bad = GetParam();
  Arguments arguments = bad.arguments;
  if (!bad.sweep.empty()) {
    write("bad.toml", bad.sweep);
    std::ranges::replace(arguments, std::string("SWEEP"), std::string("bad.toml"));
  }
  const std::vector<std::string> before = files();
  const Outcome o = halmark(arguments);
  EXPECT_EQ(o.exit_code, bad.exit_code) << o.err;
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, testing::StartsWith("halmark: "));
  for (const std::string& part : bad.expected) EXPECT_THAT(o.err, HasSubstr(part));
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(files(), before);
}

INSTANTIATE_TEST_SUITE_P(Table, Refusal, testing::ValuesIn(table()),
                         [](const auto& info) { return std::string(info.param.name); });

class BadFile : public HalmarkTest {};

TEST_F(BadFile, a_config_that_is_no_model_is_refused_with_its_place) {
  write("config.json", "{\n  \"hidden_size\": 64,\n  \"hidden_size\": 65\n}\n");
  const Outcome o = halmark({"model", path("config.json")});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, testing::AllOf(HasSubstr("config.json:3:"), HasSubstr("hidden_size")));
}

TEST_F(BadFile, control_characters_of_a_file_never_reach_the_terminal) {
  write("bad.toml", "\"\\u001b[31mred\" = 1\n" + std::string(good_head) + good_work);
  const Outcome o = halmark({"tune", "bad.toml", "--plan"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_EQ(o.err.find('\x1b'), std::string::npos);
  EXPECT_THAT(o.err, HasSubstr("red"));
}

}  // namespace
}  // namespace halmark::integration
