// What files are, by samples of every kind: small texts with the facts that make the kind, in the
// order and spelling of the programs that write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/input/file_kind.hpp"
#include "core/input/json_keys.hpp"
#include "core/text/error.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Sample {
  const char* id;  // "" = of no kind that has a name
  std::string text;
};

const std::vector<Sample> samples = {
    {"results", std::string("SQLite format 3\0", 16) + std::string(52, '\1') + "HMK1"},
    {"studies", std::string("SQLite format 3\0", 16) + "...CREATE TABLE studies (study_id"},
    {"nsys-database", std::string("SQLite format 3\0", 16) + "CUPTI_ACTIVITY_KIND_KERNEL"},
    {"database", std::string("SQLite format 3\0", 16) + "CREATE TABLE t(a)"},
    {"database", std::string("SQLite format 3\0", 16) + std::string(99, '\1') + "HMK1"},
    {"gguf", std::string("GGUF\3\0\0\0\1", 9)},
    {"", "GGUF is a format of files\n"},
    {"bzip2", "BZh91AY&SY"},
    {"", "BZhang is a name\n"},
    {"gzip", "\x1f\x8b\x08"},
    {"plugin",
     "\x7f"
     "ELF\2"},
    {"", "\xc8\xc9\xca\1\2\3"},
    {"", ""},
    {"", " \n\n"},
    {"trace", R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [)"},
    {"trace", R"([{"ph": "X", "name": "a", "pid": 1, "ts": 2}])"},
    {"llama-bench", R"([ {"build_commit": "a", "n_prompt": 1, "n_gen": null}])"},
    {"llama-bench", "{\n \"build_commit\": \"a\",\n \"n_prompt\": 1, \"n_gen\": 0}\n{\"b\": 1}"},
    {"llama-bench", R"({"results": [{"n_prompt": 1, "n_gen": 0}], "date": "x"})"},
    {"llama-bench-csv", "build_commit,n_prompt,n_gen,avg_ns\n\"a\",\"1\",\"0\",\"5\"\n"},
    {"llama-bench-table", "| model | size | t/s |\n| --- | ---: | ---: |\n"},
    {"llama-bench-table",
     "ggml_cuda_init: found 1 CUDA devices:\n| model   |   size |      t/s |\n"},
    {"genai-perf", "Metric,avg,min,max,p99,p95\nTime To First Token (ms),36.4,30,55,54,50\n"},
    {"", "| model | price |\n| --- | --- |\n| Golf | 3 |\n"},
    {"llama-bench-sql", "CREATE TABLE IF NOT EXISTS llama_bench (\n  build_commit TEXT,\n"},
    {"", "CREATE TABLE IF NOT EXISTS users (id INTEGER);\n"},
    {"", "from here on, nothing is as it was.\nSecond line.\n"},
    {"", "import duties rose last year\n"},
    {"", "Hello, world\n"},
    {"", "Hello, world\nand, then, some\n"},
    {"", R"({"run": "a", "hyperparameters": {"lr": 0.1}, "metrics": {"loss": 1.0}})"},
    {"json-space", R"({"name": "s", "hyperparameters": [{"type": "float", "name": "x"}]})"},
    {"", R"({"id": 5, "config": {"port": 80}, "source": "git"})"},
    {"tokenizer", R"({"tokenizer_class": "X"})"},
    {"record", R"({"format":"halmark-record","version":1,"sha256":"0","record":{"device":{}}})"},
    {"model", R"({"model_type": "gpt_x", "d_model": 8, "n_layer": 2, "tokenizer_class": "Y"})"},
    {"trace", R"([{"name": "a", "ph": "X", "ts": 1, "dur": 1, "tid": 1, "cat": "cpu_op"}])"},
    {"vllm-bench", R"({"model_id": "m", "completed": 1, "mean_ttft_ms": 2})"},
    {"vllm-bench", R"({"avg_latency": 1, "latencies": [1]})"},
    {"vllm-throughput", R"({"elapsed_time": 1, "num_requests": 2, "requests_per_second": 2})"},
    {"sglang-bench", R"({"backend": "sglang", "mean_ttft_ms": 1, "mean_e2e_latency_ms": 2})"},
    {"serving-results", R"({"completed": 5, "request_throughput": 1.0, "median_tpot": 0.1})"},
    {"openvino-bench", R"({"metadata": {}, "perfdata": {"results": []}})"},
    {"google-benchmark", R"({"context": {"date": "x"}, "benchmarks": [{"name": -nan}]})"},
    {"google-benchmark", R"({"benchmarks": [{"real_time": 1, "time_unit": "ns"}]})"},
    {"google-benchmark", R"({"benchmarks": [{"name": "a", "run_type": "iteration"}]})"},
    {"pytest-benchmark", R"({"machine_info": {}, "benchmarks": [], "version": "4"})"},
    {"nvbench", R"({"meta": {"argv": []}, "devices": [], "benchmarks": []})"},
    {"jmh", R"([{"jmhVersion": "1.3", "benchmark": "b"}])"},
    {"hyperfine", R"({"results": [{"command": "ls", "mean": 1}]})"},
    {"study-journal", R"({"op_code": 0, "worker_id": "w"})"},
    {"proof", R"({"format":"halmark-front-proof","version":1,"composition":{"id":"formula"}})"},
    {"answer", R"({"schema": "halmark.model", "version": 1, "tool": {}, "exit_code": 0})"},
    {"model", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama"})"},
    {"model", R"({"id": "m", "aliases": [], "source": "s", "config": {"a": 1}})"},
    {"quantization", R"({"producer": {}, "quantization": {}})"},
    {"judge-definition",
     R"({"name": "n", "axes": {}, "inputs": {}, "outputs": {}, "reference": ""})"},
    {"json-space", R"({"n": {"_type": "choice", "_value": [1]}})"},
    {"arrivals", R"({"timestamp": 0, "input_length": 1, "output_length": 2, "hash_ids": []})"},
    {"model",
     R"({"model_type": "deepseek_vl_v2", "language_config": {}, "transformers_version": ""})"},
    {"", R"({"build_commit": "a", "model_type": "qwen2 7B", "n_ubatch": 1,)"},
    {"", R"({"alpha": 1, "beta": [1, 2]})"},
    {"", "[1, 2]"},
    {"", "{\"alpha\": 1,"},
    {"sweep", "# a comment\nname = \"n\"\nmodel = \"m\"\ndtypes = [\"f32\"]\n"},
    {"sweep", "name = \"n\"\n[[kernel]]\nop = \"gemm\"\n"},
    {"device", "id = \"d\"\n[[peak]]\npath = \"dense\"\n"},
    {"fabric", "id = \"f\"\nprofile = \"full\"\n[node]\ncount = 2\n"},
    {"qpu", "id = \"q\"\nqubits = 5\nconnectivity = \"grid\"\n"},
    {"space", "[[parameter]]\nname = \"x\"\n[[objective]]\nname = \"y\"\n"},
    {"load", "[[bucket]]\ninput_tokens = 1\n"},
    {"nodes", "[[node]]\nnames = [\"a\"]\n"},
    {"pyproject", "[build-system]\nrequires = []\n"},
    {"", "key = 1\nother = 2\n"},
    {"arrivals", "arrival_s,input_tokens,output_tokens\n0,1,1\n"},
    {"arrivals", "\xef\xbb\xbf\"arrival_s\",\"input_tokens\",\"output_tokens\"\n0,1,1\n"},
    {"arrivals", "arrival_s,input_tokens,output_tokens\n"},
    {"arrivals", "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.68,374,44\r\n"},
    {"nsys-kernels", "Time (%),Total Time (ns),Instances,Name\n1,2,3,k\n"},
    {"rocprof-kernels", "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"k\",1,2\n"},
    {"", "a,b\n1,2\n"},
    {"circuit", "// comment\n/* more\n of it */\nOPENQASM 2.0;\nqreg q[1];\n"},
    {"circuit", "include \"stdgates.inc\";\nqubit q;\n"},
    {"html", "<!DOCTYPE html>\n"},
    {"script", "#!/bin/bash\nx=1\n"},
    {"source", "#include <cmath>\n"},
    {"python", "import torch\nx = 1\n"},
    {"", "Some words, and more of them.\nOther words.\n"}};

TEST(FileKinds, are_told_by_first_bytes_and_top_keys) {
  for (const Sample& sample : samples) {
    const FileKind* kind = kind_of(sample.text);
    EXPECT_EQ(kind == nullptr ? "" : kind->id, sample.id) << sample.text;
    EXPECT_EQ(is_kind(sample.text, sample.id), kind != nullptr) << sample.text;
  }
}

// Whatever is asked for, a file of its own kind passes, and one of another is refused with both.
TEST(FileKinds, are_refused_with_what_they_are_and_who_takes_them) {
  for (const Sample& sample : samples) {
    const FileKind* own = kind_of(sample.text);
    if (own == nullptr) continue;
    EXPECT_NO_THROW(require_kind(sample.text, "f", own->id)) << sample.text;
    for (const FileKind& wanted : file_kinds()) {
      const bool is_table = wanted.id == "table" && own->format == FileFormat::csv;
      if (wanted.id == own->id || is_table) continue;
      const std::string line =
          test::error_of([&] { require_kind(sample.text, "f", wanted.id); }).line();
      EXPECT_THAT(line, StartsWith("f: this is " + std::string(own->name) + ", not ")) << wanted.id;
      const std::string taken(own->taken);
      EXPECT_THAT(line, testing::EndsWith(taken.empty() ? "; name such a file"
                                                        : "; " + taken + " takes it"))
          << wanted.id;
    }
  }
}

TEST(FileKinds, that_have_no_name_are_described) {
  EXPECT_EQ(kind_text(""), "an empty file");
  EXPECT_EQ(kind_text(R"({"alpha": 1, "beta": [1, 2]})"),
            "JSON of another kind with the keys 'alpha', 'beta'");
  EXPECT_EQ(kind_text(R"({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1})"),
            "JSON of another kind with the keys 'a', 'b', 'c', 'd' and others");
  EXPECT_EQ(kind_text("a,b\n1,2\n"), "CSV of another kind with the columns 'a', 'b'");
  EXPECT_EQ(kind_text("topology: [ Switch ]\n"), "text that begins with 'topology: [ Switch ]'");
  EXPECT_EQ(kind_text("\xc8\xc9\1"), "data of an unknown kind");
}

// Readers say where a file of theirs is broken, and which keys it lacks where only they know.
TEST(FileKinds, that_may_be_the_wanted_one_pass) {
  EXPECT_NO_THROW(require_kind("{\"n_prompt\": 1, \"n_gen\"", "f", "llama-bench"));
  EXPECT_NO_THROW(require_kind("{\"alpha\": 1,", "f", "llama-bench"));
  EXPECT_NO_THROW(require_kind(R"({"alpha": 1})", "f", "model"));
  EXPECT_NO_THROW(require_kind("a,b\n1,2\n", "f", "table"));
  EXPECT_NO_THROW(require_kind("name \"n\"\nmodel = \"m\"\n", "f", "sweep"));
  EXPECT_NO_THROW(require_kind("[]", "f", "llama-bench"));
  EXPECT_NO_THROW(require_kind("{}", "f", "llama-bench"));
  EXPECT_THAT(test::error_of([] { require_kind(R"({"alpha": 1})", "f", "llama-bench"); }).line(),
              HasSubstr("JSON of another kind with the keys 'alpha', not output of llama-bench"));
  EXPECT_THAT(test::error_of([] { require_kind("words\n", "f", "arrivals"); }).line(),
              HasSubstr("text that begins with 'words', not a recording of arrivals"));
}

TEST(FileKinds, are_not_refused_as_what_they_are_not) {
  const std::string line = other_kind(samples.front().text, "f", "a results database").line();
  EXPECT_EQ(line, "f: this begins as a results database and is none; name one that is whole");
}

TEST(FileKinds, of_files_are_read_from_their_beginning) {
  const test::ScratchFolder folder;
  test::write_file(folder / "t.json", R"({"traceEvents": []})");
  EXPECT_TRUE(is_kind(beginning_of(folder / "t.json"), "trace"));
  test::write_file(folder / "m.json", "\xef\xbb\xbf{\"model_type\": \"m\"}");
  EXPECT_EQ(read_kind(folder / "m.json", json_input, "model"), "{\"model_type\": \"m\"}");
  EXPECT_EQ(beginning_of(folder / "absent"), "");
  EXPECT_TRUE(names_file(folder / "t.json"));
  EXPECT_FALSE(names_file("h100"));
  EXPECT_THAT(test::error_of([&] { read_kind(folder / "t.json", json_input, "model"); }).line(),
              HasSubstr("t.json: this is a torch-profiler trace, not a model's config.json; "
                        "halmark trace FILE takes it"));
}

TEST(JsonKeys, are_those_of_the_outermost_object_and_one_below) {
  const JsonKeys keys =
      json_keys(R"( {"a": {"b": {"c": 1}}, "d": [{"e": "\"}"}, {"f": 2}], "g": NaN} {"h": 1})");
  EXPECT_TRUE(keys.is_json);
  EXPECT_FALSE(keys.is_broken);
  EXPECT_THAT(keys.paths, ElementsAre("a", "a.b", "d", "d.e", "g"));
  EXPECT_THAT(json_keys(R"([{"a": 1}, {"b": 2}])").paths, ElementsAre("a"));
  // Without a bound on what stands around them these keys would take half an hour.
  std::string deep(400'000, '[');
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_THAT(json_keys(deep).paths, testing::IsEmpty());
}

TEST(JsonKeys, of_what_is_broken_go_as_far_as_it_is_json) {
  for (const char* text : {"{\"a\": 1, \"b\"", "{\"a\": 1, b: 2}", "{\"a\": [1, 2}", "{\"a\": 1"}) {
    const JsonKeys keys = json_keys(text);
    EXPECT_TRUE(keys.is_broken) << text;
    ASSERT_FALSE(keys.paths.empty()) << text;
    EXPECT_EQ(keys.paths.front(), "a") << text;
  }
  for (const char* text : {"", "x", "[node]", "[[node]]", "{name}", "\"a\""}) {
    EXPECT_FALSE(json_keys(text).is_json) << text;
  }
  EXPECT_TRUE(json_keys(std::string(100'000, '[')).is_broken) << "no recursion";
}

}  // namespace
}  // namespace halmark
