// Every command once, as documented: streams, exit code, envelope, keys of its data.
#include <fstream>
#include <sstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::string> command_names = {
    "devices",         "peaks",   "bench",    "model",      "tune",     "run",       "report",
    "verify",          "doctor",  "winners",  "new-plugin", "models",   "plan-size", "trace",
    "verify-front",    "salvage", "explain",  "compare",    "history",  "retire",    "plan-mix",
    "compare-devices", "fabric",  "simulate", "ops",        "rank-qpu", "forecasts"};

using Command = HalmarkTest;  // bench/test_bench_command.cpp has the cases of bench

TEST_F(Command, help_names_every_command_and_each_explains_itself) {
  const Outcome all = halmark({"help", "--all"});
  EXPECT_EQ(all.exit_code, 0);
  for (const char* option : {"--json", "--db", "--quiet", "--color"}) {
    EXPECT_THAT(all.out, HasSubstr(option));
  }
  for (const std::string& name : command_names) {
    EXPECT_THAT(all.out, HasSubstr("  " + name + " "));
    const Outcome one = halmark({name, "--help"});
    EXPECT_EQ(one.exit_code, 0) << name;
    EXPECT_THAT(one.out, HasSubstr("halmark " + name)) << name;
    EXPECT_EQ(one.err, "") << name;
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Command, the_first_answer_of_help_fits_a_screen) {
  const Outcome first = halmark({"--help"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_LE(std::ranges::count(first.out, '\n'), 40);
  std::istringstream lines(first.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* name : {"model", "tune", "simulate", "bench", "compare", "explain"}) {
    EXPECT_THAT(first.out, HasSubstr("\n  " + std::string(name) + " "));
  }
  EXPECT_THAT(first.out, HasSubstr("halmark help --all"));
}

// Examples under a help are of that command; guide.commands holds their words, and runs those that
// need no device, in another folder.
TEST_F(Command, examples_under_a_help_are_of_that_command) {
  for (const std::string& name : command_names) {
    const std::string help = halmark({name, "--help"}).out;
    const std::string head = "\nExamples:\n";
    const std::size_t at = help.find(head);
    ASSERT_NE(at, std::string::npos) << name;
    std::istringstream lines(help.substr(at + head.size()));
    int count = 0;
    for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
      EXPECT_THAT(line, StartsWith("  halmark " + name)) << name;
      EXPECT_LE(line.size(), 96u) << line;
    }
    EXPECT_GT(count, 0) << name;
  }
}

TEST_F(Command, the_page_of_all_commands_is_what_the_program_writes) {
  ASSERT_EQ(halmark({"man", "pages", "--markdown"}).exit_code, 0);
  std::ifstream shipped(test::in_source("/results/schema/reference/commands.md"));
  std::stringstream text;
  text << shipped.rdbuf();
  EXPECT_EQ(read("pages/commands.md"), text.str())
      << "write it again: halmark man results/schema/reference --markdown";
}

TEST_F(Command, devices_lists_what_is_found_and_why_a_backend_is_absent) {
  const Json devices = data_of({"devices"})["devices"];
  ASSERT_FALSE(devices.empty());
  bool has_fake = false, has_reason = false;
  for (const Json& d : devices) {
    std::vector<std::string> expected = {"id", "backend", "kind", "properties", "status", "reason"};
    if (d["status"] == "ok") expected.insert(expected.end(), {"ops", "has_collectives", "peaks"});
    EXPECT_EQ(keys(d), expected);
    if (d["backend"] == "fake") {
      has_fake = true;
      EXPECT_EQ(d["id"], "fake:0");
      EXPECT_EQ(d["status"], "ok");
      EXPECT_TRUE(d["properties"].contains("timer"));
    }
    if (d["status"] == "absent") {
      has_reason = true;
      EXPECT_TRUE(d["id"].is_null());
      EXPECT_NE(d["reason"], "");
    }
  }
  EXPECT_TRUE(has_fake);
  EXPECT_TRUE(has_reason);
}

TEST_F(Command, devices_shows_why_a_plugin_is_refused_and_lists_the_others) {
  write("hm_text.so", "no library");
  const Json devices = data_of({"devices", "--plugin", path("hm_text.so")})["devices"];
  std::vector<std::string> refused, ok;
  for (const Json& d : devices) {
    (d["status"] == "refused" ? refused : ok).push_back(d["backend"].get<std::string>());
  }
  EXPECT_THAT(refused, ElementsAre(HasSubstr("hm_text.so")));
  EXPECT_THAT(ok, Contains("fake"));
}

TEST_F(Command, the_envelope_has_the_documented_keys_in_order) {
  const Outcome o = halmark({"devices", "--json"});
  EXPECT_EQ(o.err, "");
  const Json e = envelope_of(o.out);
  EXPECT_THAT(keys(e), ElementsAre("schema", "version", "tool", "status", "exit_code", "data",
                                   "error", "warnings"));
  EXPECT_EQ(e["schema"], "halmark.devices");
  EXPECT_EQ(e["version"], 2);
  EXPECT_THAT(keys(e["tool"]), ElementsAre("name", "version", "build"));
  EXPECT_EQ(e["status"], "ok");
  EXPECT_EQ(e["exit_code"], 0);
  EXPECT_TRUE(e["error"].is_null());
}

TEST_F(Command, a_failed_command_still_prints_a_whole_envelope) {
  const Outcome o = halmark({"model", "qwen3-0.7b", "--json"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.err, "");
  const Json e = envelope_of(o.out);
  EXPECT_EQ(e["schema"], "halmark.model");
  EXPECT_EQ(e["status"], "refused");
  EXPECT_EQ(e["exit_code"], 2);
  EXPECT_TRUE(e["data"].empty());
  EXPECT_THAT(keys(e["error"]), ElementsAre("code", "text", "where", "remedy"));
  EXPECT_THAT(e["error"]["remedy"].get<std::string>(), HasSubstr("'qwen3-0.6b'"));
}

TEST_F(Command, a_usage_error_is_an_envelope_too_when_json_is_asked) {
  const Outcome o = halmark({"bench", "--json", "--opp", "gemm"});
  EXPECT_EQ(o.exit_code, 2);
  const Json e = envelope_of(o.out);
  EXPECT_EQ(e["schema"], "halmark.bench");
  EXPECT_THAT(e["error"]["remedy"].get<std::string>(), HasSubstr("'--op'"));
}

TEST_F(Command, model_prices_a_step_without_any_plugin) {
  base_.environment["HALMARK_PLUGIN_PATH"] = path("nothing-here");
  const Json d = data_of({"model", "qwen3-0.6b", "--phase", "decode", "--batch", "8", "--context",
                          "1024", "--tp", "2", "--dtype", "bf16"});
  EXPECT_THAT(keys(d), ElementsAre("model", "workload", "parallel", "precision", "convention",
                                   "answer", "operators", "layers", "totals", "per_layer",
                                   "kernels", "mfu", "warnings"));
  // The published size of Qwen3-0.6B with tied embeddings.
  EXPECT_EQ(d["model"]["total_params"], 596'049'920);
  // Two tensors of 8 KV heads x 128 x 28 layers in bf16, for one token of the model.
  EXPECT_EQ(d["totals"]["kv_bytes_per_token"], 2 * 8 * 128 * 28 * 2);
  for (const Json& op : d["operators"]) {
    EXPECT_THAT(keys(op), AllOf(Contains("name"), Contains("flops"), Contains("bytes"),
                                Contains("count"), Contains("split")));
  }
  // Every linear layer: 2 x batch x weights of the 28 layers, and the head: 2 x 8 x 1024 x 151936.
  const double layer = 1024 * 2048 + 2 * 1024 * 1024 + 2048 * 1024 + 3 * 1024 * 3072;
  const double linear = 2.0 * 8 * (28 * layer + 1024.0 * 151936);
  // Scores and values of one query over 1024 keys: 4 x batch x heads x head_dim x context a layer.
  const double attention = 4.0 * 8 * 16 * 128 * 1024 * 28;
  EXPECT_EQ(d["totals"]["matmul_flops"].get<double>(), linear + attention);
  EXPECT_THAT(files(), IsEmpty());
}

// 2 x 4 devices; a rank has 2048 of 8192 tokens: linear layers 2 x 2048 x weights, a quarter of the
// causal pairs, and the head on the last position.
TEST_F(Command, model_splits_a_sequence_over_context_ranks) {
  const Arguments step = {"model", "qwen3-0.6b", "--phase", "prefill", "--context", "8192",
                          "--dp",  "2",          "--batch", "2",       "--cp",      "4"};
  const Json d = data_of(step);
  EXPECT_EQ(d["parallel"], (Json{{"tp", 1}, {"pp", 1}, {"dp", 2}, {"ep", 1}, {"cp", 4}}));
  const double layer = 1024 * 2048 + 2 * 1024 * 1024 + 2048 * 1024 + 3 * 1024 * 3072;
  const double pairs = 8192.0 * 8193 / 2;
  EXPECT_EQ(d["totals"]["matmul_flops_per_rank"].get<double>(),
            28 * (2.0 * 2048 * layer + 4.0 * 16 * 128 * pairs / 4) + 2.0 * 1024 * 151936);
  const Json plain = data_of({"model", "qwen3-0.6b", "--phase", "prefill", "--context", "8192",
                              "--dp", "2", "--batch", "2"});
  EXPECT_EQ(d["totals"]["matmul_flops"], plain["totals"]["matmul_flops"]);
  EXPECT_EQ(plain["parallel"]["cp"], 1);
  EXPECT_THAT(halmark(step).out, HasSubstr("dp2 tp1 pp1 ep1 cp4"));
  Arguments counted = step;
  counted.insert(counted.end(), {"--devices", "8"});
  EXPECT_EQ(halmark(counted).exit_code, 0);
}

TEST_F(Command, model_names_the_form_in_which_the_delta_rule_counts) {
  const Arguments step = {"model", "qwen3-next", "--phase", "prefill", "--context", "4096"};
  const Json recurrent = data_of(step);
  EXPECT_EQ(recurrent["delta_rule"]["executed"], "recurrent");
  Arguments more = step;
  more.insert(more.end(), {"--delta-chunk", "64"});
  const Json chunked = data_of(more);
  EXPECT_EQ(chunked["delta_rule"],
            (Json{{"model_flops", "recurrent"}, {"executed", "chunked"}, {"chunk", 64}}));
  EXPECT_EQ(chunked["totals"]["matmul_flops"], recurrent["totals"]["matmul_flops"]);
  EXPECT_GT(chunked["totals"]["matmul_flops_per_rank"].get<double>(),
            recurrent["totals"]["matmul_flops_per_rank"].get<double>());
  EXPECT_THAT(halmark(more).out, HasSubstr("in chunks of 64 tokens"));
}

TEST_F(Command, every_mfu_names_its_convention) {
  const std::vector<std::string> step = {
      "model", "qwen3-0.6b", "--phase",  "training",      "--context", "4096",        "--batch",
      "2",     "--device",   "h100-sxm", "--measured-ms", "100",       "--recompute", "full"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> out = step;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  const Json own = data_of(step), palm = data_of(with({"--convention", "palm"}));
  EXPECT_EQ(own["convention"]["name"], "model");
  EXPECT_EQ(palm["convention"]["flops"], "p6");
  // 6 FLOPs a parameter and 12 L n d S, of two sequences.
  EXPECT_EQ(palm["convention"]["flops_per_step"].get<double>(),
            2.0 * 4096 * (6.0 * 596'049'920 + 12.0 * 28 * 16 * 128 * 4096));
  EXPECT_NE(own["mfu"]["model_pct"], palm["mfu"]["model_pct"]);
  EXPECT_GT(own["mfu"]["hfu_pct"].get<double>(), own["mfu"]["model_pct"].get<double>());
  const Json set = data_of(with({"--convention", "palm", "--set", "attention=none"}));
  EXPECT_EQ(set["convention"]["flops_per_step"].get<double>(), 2.0 * 4096 * 6.0 * 596'049'920);
  const Outcome text = halmark(with({"--convention", "palm"}));
  EXPECT_THAT(text.out, HasSubstr("convention: " + palm["mfu"]["convention"].get<std::string>()));
}

TEST_F(Command, model_says_whether_a_rank_fits_and_by_how_much_not) {
  const Json fits = data_of({"model", "qwen3-0.6b", "--device", "h100-sxm"})["fit"];
  EXPECT_EQ(fits["fits"], true);
  EXPECT_EQ(fits["short_by_bytes"], 0);
  const Json large = data_of({"model", "llama-3.1-405b", "--device", "h100-sxm"})["fit"];
  EXPECT_EQ(large["fits"], false);
  EXPECT_EQ(large["short_by_bytes"].get<double>(),
            large["needed_bytes"].get<double>() - large["device_bytes"].get<double>());
}

TEST_F(Command, model_prices_packed_weights_and_says_what_multiplies_them) {
  const Arguments packed = {"model", "gpt-oss-20b", "--dtype", "mxfp4", "--device", "h100-sxm"};
  const Outcome text = halmark(packed);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("h100-sxm states no 4-bit peak: mxfp4 weights are multiplied in "
                                  "bf16"));
  Arguments json = packed;
  json.push_back("--json");
  const Json out = data_of(json);
  EXPECT_EQ(out["model"]["weight_format"]["name"], "mxfp4");
  for (const Json& op : out["operators"]) {
    if (op["name"] != "expert_down") continue;
    EXPECT_EQ(op["dtype"], "f4_e2m1");
    EXPECT_EQ(op["peak_dtype"], "bf16");
    EXPECT_FALSE(op["bound"].is_null());
  }
  EXPECT_THAT(halmark({"model", "gpt-oss-20b", "--dtype", "bf16"}).out,
              HasSubstr("the checkpoint stores mxfp4 weights; --dtype checkpoint prices them"));
  EXPECT_EQ(data_of({"model", "gpt-oss-20b"})["precision"]["experts"], "f4_e2m1")
      << "what the checkpoint states is what is priced unless something else is asked for";
}

TEST_F(Command, model_drafts_and_verifies_and_explains_the_tokens_of_a_step) {
  const Json out = data_of({"model", "deepseek-v3", "--batch", "4", "--context", "1000", "--mtp",
                            "2", "--acceptance", "0.5", "--measured-ms", "20", "--json"});
  EXPECT_EQ(out["model"]["prediction_modules"], 1);
  EXPECT_EQ(out["workload"]["new_tokens"], 3);
  const Json& speculation = out["speculation"];
  EXPECT_EQ(speculation["drafted"], 2);
  EXPECT_EQ(speculation["verified_tokens"], 3);
  EXPECT_DOUBLE_EQ(speculation["expected_tokens_per_step"].get<double>(), 1.75);
  EXPECT_DOUBLE_EQ(speculation["tokens_per_s"].get<double>(), 4 * 1.75 / 0.020);
  EXPECT_DOUBLE_EQ(speculation["draft_matmul_flops"].get<double>() +
                       speculation["verify_matmul_flops"].get<double>(),
                   out["totals"]["matmul_flops"].get<double>());
  const Outcome explained = halmark({"model", "deepseek-v3", "--mtp", "2", "--acceptance", "0.5",
                                     "--explain", "expected_tokens_per_step"});
  EXPECT_THAT(explained.out, HasSubstr("(1 - a^(N+1)) / (1 - a)"));
  EXPECT_THAT(explained.out, HasSubstr("1 + a + a^2 = 1.750000"));
}

TEST_F(Command, explain_and_model_say_the_same_of_a_word) {
  const Outcome alone = halmark({"explain", "mfu"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("Model FLOPs utilisation"));
  EXPECT_EQ(halmark({"model", "qwen3-0.6b", "--explain", "mfu"}).out, alone.out);
  EXPECT_THAT(halmark({"explain"}).out, HasSubstr("\nmfu "));
  EXPECT_THAT(halmark({"model", "qwen3-0.6b", "--explain"}).out, HasSubstr("lm_head"));
  const Outcome wrong = halmark({"explain", "mfuu"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'mfu'"));
}

TEST_F(Command, model_prints_the_keys_of_the_reference_tool_alone) {
  const Outcome o = halmark({"model", "qwen3-0.6b", "--json-schema", "reference"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Json d = parse_json(o.out, "stdout");
  EXPECT_EQ(d["model"], "qwen3-0.6b");
  EXPECT_EQ(d["num_layers"], 28);
  EXPECT_EQ(halmark({"model", "qwen3-0.6b", "--json-schema", "other"}).exit_code, 2);
}

TEST_F(Command, models_lists_every_shipped_one_with_its_sizes) {
  const Json models = data_of({"models"})["models"];
  EXPECT_GE(models.size(), 40u);
  for (const Json& m : models) {
    EXPECT_GT(m["total_params"].get<double>(), 0);
    EXPECT_NE(m["source"], "");
  }
  EXPECT_EQ(data_of({"models", "qwen3-0.6b"})["models"][0]["total_params"], 596'049'920);
}

// As vLLM reads counts of tokens: small letters are decimal, capital ones binary.
TEST_F(Command, counts_are_read_as_people_write_them) {
  const auto model = [&](const std::string& batch, const std::string& context) {
    return halmark({"model", "qwen3-0.6b", "--batch", batch, "--context", context});
  };
  EXPECT_THAT(model("1k", "4K").out, HasSubstr("batch 1000 new tokens 1 context 4096"));
  EXPECT_THAT(model("2", "25.6k").out, HasSubstr("batch 2 new tokens 1 context 25600"));
  for (const char* wrong : {"4kk", "k", "1.0005k", "4t", "1e400k"}) {
    const Outcome o = model(wrong, "1");
    EXPECT_EQ(o.exit_code, 2) << wrong;
    EXPECT_THAT(o.err, AllOf(HasSubstr("--batch"), HasSubstr(wrong)));
  }
}

TEST_F(Command, plan_size_prints_what_it_assumes_and_invents_no_price) {
  const Json d = data_of(
      {"plan-size", "llama-3.1-8b", "--device", "h100-sxm", "--tokens", "15e12", "--days", "30"});
  EXPECT_GT(d["plan"]["devices"].get<double>(), 100);
  EXPECT_TRUE(d["plan"]["cost"].is_null());
  EXPECT_TRUE(d["plan"]["carbon_kg"].is_null());
  std::vector<std::string> names;
  for (const Json& a : d["assumptions"]) {
    names.push_back(a["name"].get<std::string>());
    EXPECT_NE(a["source"], "");
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"mfu", "power_w", "pue", "price_per_device_hour",
                                            "carbon_g_per_kwh", "peak_flops_per_s"}));
}

TEST_F(Command, doctor_checks_plugins_machine_and_libraries) {
  const Json checks = data_of({"doctor"})["checks"];
  std::vector<std::string> names;
  for (const Json& c : checks) {
    EXPECT_THAT(keys(c), ElementsAre("name", "verdict", "text"));
    EXPECT_THAT(c["verdict"].get<std::string>(),
                testing::AnyOf("ok", "note", "missing", "refused"));
    names.push_back(c["name"]);
  }
  EXPECT_THAT(names, AllOf(Contains("plugin fake"), Contains("machine"), Contains("storage"),
                           Contains("google benchmark"), Contains("mpirun")));
}

TEST_F(Command, doctor_says_how_workers_are_contained) {
  const Json checks = data_of({"doctor"})["checks"];
  const auto it = std::find_if(checks.begin(), checks.end(),
                               [](const Json& c) { return c["name"] == "containment"; });
  ASSERT_NE(it, checks.end());
  const std::string text = (*it)["text"];
  EXPECT_EQ((*it)["verdict"], text.find("cgroup v2") == 0 ? "ok" : "note") << text;
  EXPECT_THAT(halmark({"doctor"}).out, HasSubstr(text));
}

TEST_F(Command, doctor_says_which_plugin_is_refused_and_why) {
  write("hm_text.so", "no library");
  const Outcome o = halmark({"doctor", "--plugin", path("hm_text.so"), "--json"});
  EXPECT_EQ(o.exit_code, 5);
  const Json checks = envelope_of(o.out)["data"]["checks"];
  bool is_named = false;
  for (const Json& c : checks) {
    if (c["verdict"] != "refused") continue;
    is_named = true;
    EXPECT_THAT(c["name"].get<std::string>(), HasSubstr("hm_text.so"));
    EXPECT_NE(c["text"], "");
  }
  EXPECT_TRUE(is_named);
}

}  // namespace
}  // namespace halmark::integration
