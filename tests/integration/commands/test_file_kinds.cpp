// Every command that takes a file, with every kind of file that Halmark knows and those that people
// give it instead: what is said of the file is true, and names the command that takes it.
#include <map>
#include <set>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

// A sample: the facts that make the kind, thinned to a few keys. `taken`: "" = no command takes it.
struct Sample {
  std::string file, text, is, taken;
};

const std::string llama_row =
    R"({"build_commit": "8cf4", "build_number": 5163, "cpu_info": "c", "gpu_info": "g",
 "backends": "CUDA", "model_filename": "m.gguf", "model_type": "qwen2 7B", "n_ubatch": 512,
 "n_threads": 8, "n_prompt": 512, "n_gen": 0, "n_depth": 0, "avg_ns": 1000000, "stddev_ns": 0,
 "samples_ns": [1000000]})";

const std::vector<Sample> samples = {
    {"rows.json", '[' + llama_row + ']', "output of llama-bench", "halmark import llama-bench"},
    {"rows.jsonl", llama_row + '\n' + llama_row, "output of llama-bench",
     "halmark import llama-bench"},
    {"wrapped.json", "{\"runs\": [" + llama_row + "]}", "output of llama-bench",
     "halmark import llama-bench"},
    {"rows.md", "| model | size | t/s |\n| --- | ---: | ---: |\n| m | 3 GiB | 2368 |\n",
     "llama-bench's Markdown table", ""},
    {"rows.csv", "build_commit,n_prompt,n_gen,avg_ns\na,1,0,5\n", "llama-bench's CSV", ""},
    {"serve.json",
     R"({"model_id": "m", "completed": 9, "total_input_tokens": 90, "total_output_tokens": 90,
         "mean_ttft_ms": 2.0, "mean_tpot_ms": 1.0})",
     "a result of vllm bench serve", "halmark import vllm-bench"},
    {"latency.json", R"({"avg_latency": 2.0, "latencies": [2.0]})",
     "a result of vllm bench latency", "halmark import vllm-bench"},
    {"sglang.json", R"({"backend": "sglang", "mean_ttft_ms": 2.0, "mean_e2e_latency_ms": 4})",
     "a result of SGLang's bench_serving", ""},
    {"other_serving.json", R"({"completed": 9, "request_throughput": 1.0, "median_tpot": 0.1})",
     "a serving result of another program", ""},
    {"llm_bench.json", R"({"metadata": {"model": "m"}, "perfdata": {"results": []}})",
     "a report of llm_bench", "halmark import openvino-bench"},
    {"google.json", R"({"context": {"host_name": "h"}, "benchmarks": [{"name": "a"}]})",
     "the JSON of Google Benchmark", "halmark compare"},
    {"pytest.json", R"({"machine_info": {}, "benchmarks": [{"name": "t"}]})",
     "output of pytest-benchmark", ""},
    {"nvbench.json", R"({"meta": {}, "devices": [{}], "benchmarks": [{}]})", "output of NVBench",
     ""},
    {"jmh.json", R"([{"jmhVersion": "1.37", "benchmark": "b"}])", "output of JMH", ""},
    {"trace.json", R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1,
         "tid": 1, "ts": 1, "dur": 1}]})",
     "a torch-profiler trace", "halmark trace"},
    {"config.json", R"({"architectures": ["X"], "model_type": "llama"})", "a model's config.json",
     "halmark model"},
    {"hf_quant.json", R"({"producer": {}, "quantization": {}})", "a model's hf_quant_config.json",
     ""},
    {"definition.json", R"({"axes": {}, "inputs": {}, "outputs": {}, "reference": "x"})",
     "a definition of SOL-ExecBench", ""},
    {"optuna.log",
     "{\"op_code\": 0, \"worker_id\": \"w\", \"study_name\": \"s\", "
     "\"directions\": [1]}\n",
     "an Optuna journal", "halmark study list"},
    {"proof.jsonl",
     R"({"format":"halmark-front-proof","version":1,"composition":{"id":"formula","version":1}})"
     "\n",
     "a proof of a front", "halmark verify-front"},
    {"space.json", R"({"hyperparameters": [{"name": "x", "type": "uniform_int"}]})",
     "a search space in JSON", ""},
    {"unknown.json", R"({"alpha": 1, "beta": "x"})", "JSON of another kind with the keys 'alpha'",
     ""},
    {"sweep.toml", "name = \"n\"\nmodel = \"m\"\ndtypes = [\"f32\"]\n", "a sweep file",
     "halmark tune"},
    {"device.toml", "id = \"d\"\n[[peak]]\npath = \"dense\"\n", "a device file", "--device FILE"},
    {"fabric.toml", "id = \"f\"\nprofile = \"full\"\n[node]\ncount = 2\n", "a fabric file",
     "halmark fabric show"},
    {"space.toml", "[[parameter]]\nname = \"x\"\n[[objective]]\nname = \"y\"\n",
     "a search space in TOML", "halmark study serve"},
    {"load.toml", "[[bucket]]\ninput_tokens = 1\n", "a load of several kinds of requests",
     "halmark plan-mix"},
    {"layout.toml", "op = \"gemm\"\ntime = \"t\"\n[[parameter]]\nname = \"m\"\n",
     "a layout of a table", "--layout FILE"},
    {"pyproject.toml", "[project]\nname = \"x\"\n", "a Python project's TOML", ""},
    {"arrivals.csv", "arrival_s,input_tokens,output_tokens\n0,1,1\n", "a recording of arrivals",
     "halmark simulate serving"},
    {"azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n",
     "a recording of arrivals, as Azure has them", "halmark simulate serving"},
    {"nsys.csv", "Time (%),Total Time (ns),Instances,Name\n1,2,3,k\n",
     "a table of kernel sums of Nsight Systems", ""},
    {"circuit.qasm", "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[1];\nh q[0];\n",
     "an OpenQASM circuit", "halmark rank-qpu"},
    {"page.html", "<!DOCTYPE html>\n<html></html>\n", "an HTML page", ""},
    {"system.yml", "topology: [ Switch ]\n", "text that begins with 'topology: [ Switch ]'", ""},
    {"kernel.cpp", "#include <cmath>\n", "C or C++ source", "halmark judge"},
    {"script.py", "import torch\n", "Python source", ""},
    {"weights.gguf", std::string("GGUF\3\0\0\0\1", 9), "a GGUF file of weights",
     "halmark model --weights"},
    {"archive.zip", "PK\3\4" + std::string(64, '\1'), "a zip archive", ""},
    {"random.bin", "\xc8\xc9\xca\1\2" + std::string(64, '\xfe'), "data of an unknown kind", ""}};

struct FileUse {
  const char* name;
  Arguments arguments;          // "FILE" stands for its path, also within a word
  std::set<std::string> takes;  // samples that are its own: their readers judge them
};
void PrintTo(const FileUse& use, std::ostream* out) { *out << use.name; }

std::vector<FileUse> uses() {
  const std::set<std::string> sweeps = {"sweep.toml"},
                              models = {"config.json", "unknown.json", "weights.gguf"};
  const std::set<std::string> tables = {"arrivals.csv", "azure.csv", "nsys.csv", "rows.csv"};
  const std::string any_model = "qwen3-0.6b";
  return {
      {"import_llama_bench",
       {"import", "llama-bench", "FILE"},
       {"rows.json", "rows.jsonl", "wrapped.json"}},
      {"import_vllm_bench", {"import", "vllm-bench", "FILE"}, {"serve.json", "latency.json"}},
      {"import_openvino_bench", {"import", "openvino-bench", "FILE"}, {"llm_bench.json"}},
      {"model", {"model", "FILE"}, models},
      {"run", {"run", "FILE"}, models},
      {"serving", {"simulate", "serving", "FILE", "--device", "h100-sxm"}, models},
      {"device", {"model", any_model, "--device", "FILE"}, {"device.toml"}},
      {"kernel_ms", {"model", any_model, "--kernel-ms", "FILE"}, {"unknown.json"}},
      {"trace", {"trace", "FILE"}, {"trace.json"}},
      {"trace_model", {"trace", "trace.json", "--compare", "FILE"}, models},
      {"fabric", {"fabric", "show", "FILE"}, {"fabric.toml"}},
      {"arrivals",
       {"simulate", "serving", any_model, "--device", "h100-sxm", "--arrivals", "FILE"},
       {"arrivals.csv", "azure.csv"}},
      {"circuit", {"rank-qpu", "FILE"}, {"circuit.qasm"}},
      // It says of a kernel's source how it is tuned.
      {"tune",
       {"tune", "FILE", "--plan"},
       {"sweep.toml", "config.json", "unknown.json", "weights.gguf", "kernel.cpp"}},
      {"bench", {"bench", "--sweep", "FILE", "--variants", "all"}, sweeps},
      {"compare", {"compare", "FILE", "FILE"}, {"google.json"}},
      {"table", {"compare-devices", "FILE", "h100-sxm"}, {"device.toml"}},
      {"imported", {"model", any_model, "--device", "h100-sxm", "--latency", "imported:FILE"}, {}},
      {"journal", {"model", any_model, "--device", "h100-sxm", "--latency", "journal:FILE"}, {}},
      {"layout",
       {"compare-devices", "unknown.csv=h100-sxm", "h200", "--layout", "FILE"},
       {"layout.toml"}},
      {"load", {"plan-mix", any_model, "--devices", "h100-sxm", "--load", "FILE"}, {"load.toml"}},
      {"studies", {"study", "list", "--study", "FILE"}, {"optuna.log"}},
      {"sqlite_studies", {"study", "list", "--study", "sqlite:FILE"}, {}},
      {"journal_studies", {"study", "list", "--study", "journal:FILE"}, {"optuna.log"}},
      {"space", {"study", "serve", "FILE"}, {"space.toml"}},
      {"verify", {"verify", "FILE"}, {}},
      {"report", {"report", "--db", "FILE"}, {}},
      {"history", {"history", "--db", "FILE"}, {}},
      {"salvage", {"salvage", "FILE", "new.db"}, {}},
      {"judge",
       {"judge", "FILE", "--op", "gemm"},
       {"kernel.cpp", "unknown.json", "system.yml", "random.bin"}},
      {"proof", {"verify-front", "FILE"}, {"proof.jsonl"}}};
}

class FileKindOf : public HalmarkTest, public testing::WithParamInterface<FileUse> {
 protected:
  FileKindOf() {
    for (const Sample& sample : samples) write(sample.file, sample.text);
    write("unknown.csv", "a,b\n1,2\n");
  }
  Outcome with(const std::string& file) const {
    Arguments arguments = GetParam().arguments;
    for (std::string& word : arguments) {
      if (const std::size_t at = word.find("FILE"); at != std::string::npos) {
        word.replace(at, 4, file);
      }
    }
    return halmark(arguments);
  }
};

TEST_P(FileKindOf, is_said_as_it_is_with_who_takes_it) {
  for (const Sample& sample : samples) {
    if (GetParam().takes.contains(sample.file)) continue;
    SCOPED_TRACE(sample.file);
    const Outcome o = with(sample.file);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    EXPECT_THAT(o.err, HasSubstr(sample.file + ": this is " + sample.is));
    EXPECT_THAT(o.err, HasSubstr(sample.taken));
    EXPECT_EQ(o.err.find(" takes it") == std::string::npos, sample.taken.empty()) << o.err;
  }
}

// Its own, thinned as they are, may be refused by their readers: never as another kind.
TEST_P(FileKindOf, its_own_kind_is_read) {
  for (const std::string& file : GetParam().takes) {
    SCOPED_TRACE(file);
    EXPECT_THAT(with(file).err, Not(HasSubstr(": this is ")));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, FileKindOf, testing::ValuesIn(uses()),
                         [](const auto& info) { return std::string(info.param.name); });

using FileKinds = HalmarkTest;

TEST_F(FileKinds, studies_of_an_older_optuna_are_studies) {
  sql(path("old.db"),
      "CREATE TABLE studies(study_id INTEGER); CREATE TABLE trials(trial_id INTEGER); CREATE TABLE "
      "alembic_version(version_num TEXT); INSERT INTO alembic_version VALUES('v2.6.0.a')");
  for (const char* where : {"old.db", "sqlite:old.db"}) {
    EXPECT_THAT(halmark({"study", "list", "--study", where}).err,
                HasSubstr("these studies have revision 'v2.6.0.a' of Optuna's tables"));
  }
  sql(path("other.db"), "CREATE TABLE t(a)");
  EXPECT_THAT(halmark({"study", "list", "--study", "other.db"}).err,
              HasSubstr("an SQLite database of another program, not a database of studies"));
  EXPECT_THAT(halmark({"verify", "old.db"}).err,
              HasSubstr("this is a database of studies (Optuna's tables), not a results database; "
                        "halmark study list --study FILE takes it"));
}

// A file by whatever name: what it is decides, not how it ends.
TEST_F(FileKinds, files_are_read_by_whatever_name) {
  const auto copy = [&](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(test::in_source(from), path(to));
  };
  copy("/configs/devices/h100-sxm.toml", "device.txt");
  EXPECT_EQ(halmark({"model", "qwen3-0.6b", "--device", "device.txt"}).exit_code, 0);
  copy("/configs/fabrics/ib-pair.toml", "fabric.conf");
  EXPECT_EQ(halmark({"fabric", "show", "fabric.conf"}).exit_code, 0);
  EXPECT_THAT(halmark({"fabric", "show", "ib-pairs"}).err, HasSubstr("did you mean 'ib-pair'"));
}

// As `halmark NO-SUCH-COMMAND` alone.
TEST_F(FileKinds, help_of_no_command_is_refused_as_the_command_is) {
  for (const Arguments& words : {Arguments{"no-such-command"}, {"study", "no-such-command"}}) {
    Arguments asked = words;
    asked.emplace_back("--help");
    const Outcome plain = halmark(words), help = halmark(asked);
    EXPECT_EQ(help.exit_code, 2);
    EXPECT_EQ(help.err, plain.err);
    EXPECT_EQ(help.out, "");
  }
  EXPECT_EQ(halmark({"study", "list", "--help"}).exit_code, 0);
  EXPECT_EQ(halmark({"--quiet", "model", "--help"}).exit_code, 0);
}

}  // namespace
}  // namespace halmark::integration
