// Every command that takes a file, with every file that nobody should have to read: one line, the
// documented exit code, under a second of CPU and 256 MiB of memory, nothing on stdout.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include "hostile_files.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct FileUse {
  const char* name;
  const char* suffix;
  const char* beginning;  // of a good file
  Arguments arguments;    // "FILE" stands for its path, also within a word
};
void PrintTo(const FileUse& use, std::ostream* out) { *out << use.name; }

const char* const good_sweep =
    "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndevice_file = \"h200\"\nshards = [1]\n"
    "dtypes = [\"bf16\"]\n[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 64\n";

std::vector<FileUse> uses() {
  const char* const json = "{\"architectures\": [";
  return {
      {"sweep", ".toml", "name = \"s\"\n", {"tune", "FILE", "--plan"}},
      {"sweep_of_bench",
       ".toml",
       "name = \"s\"\n",
       {"bench", "--sweep", "FILE", "--variants", "all"}},
      {"model", ".json", json, {"model", "FILE"}},
      {"device", ".toml", "id = \"x\"\n", {"model", "qwen3-0.6b", "--device", "FILE"}},
      {"fabric", ".toml", "id = \"x\"\n", {"fabric", "show", "FILE"}},
      {"kernel_flow", ".json", "{\"layers\": [", {"model", "qwen3-0.6b", "--kernel-flow", "FILE"}},
      {"table",
       ".csv",
       "m,n,k,latency\n1,1,1,1\n",
       {"tune", "s.toml", "--latency", "imported:FILE"}},
      {"layout",
       ".toml",
       "op = \"gemm\"\n",
       {"tune", "s.toml", "--latency", "imported:t.csv", "--layout", "FILE"}},
      {"trace", ".json", "{\"traceEvents\": [", {"trace", "FILE"}},
      {"proof", ".hmproof", "{\"halmark_proof\": 1}\n", {"verify-front", "FILE"}},
      {"database", ".db", "SQLite format 3", {"report", "--db", "FILE"}},
      {"database_to_verify", ".db", "SQLite format 3", {"verify", "FILE"}},
      {"space", ".toml", "name = \"s\"\n", {"study", "serve", "FILE"}},
      {"studies", ".log", "{\"op_code\": 0", {"study", "list", "--study", "journal:FILE"}},
      {"sqlite_studies", ".study", "SQLite format 3", {"study", "list", "--study", "sqlite:FILE"}},
  };
}

// An empty journal holds no studies, and the half line at the end of one is a killed writer's.
bool is_good(const FileUse& use, const std::string& kind) {
  static const std::set<std::string> good = {"empty", "beginning_alone", "bad_utf8",
                                             "memory_of_process", "file_of_the_kernel"};
  return std::string(use.name) == "studies" && good.contains(kind);
}

class HostileFileOf : public HalmarkTest, public testing::WithParamInterface<FileUse> {
 protected:
  HostileFileOf() {
    write("s.toml", good_sweep);
    write("t.csv", "m,n,k,latency\n1,1,1,1\n");
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

// No C0, DEL, C1, or mark that turns the reading direction; UTF-8 is whole where none is cut.
bool is_inert(const std::string& text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto a = static_cast<unsigned char>(text[i]);
    const auto b = static_cast<unsigned char>(text[i + 1]);
    if (a < 0x20 || a == 0x7f || (a == 0xc2 && b < 0xa0)) return false;
    if (a == 0xd8 && b == 0x9c) return false;
    if (a != 0xe2 || i + 2 >= text.size()) continue;
    const auto c = static_cast<unsigned char>(text[i + 2]);
    if (b == 0x80 && ((c >= 0xaa && c <= 0xae) || c == 0x8e || c == 0x8f)) return false;
    if (b == 0x81 && c >= 0xa6 && c <= 0xa9) return false;
  }
  return true;
}

TEST_P(HostileFileOf, is_refused_in_one_line_at_once_and_in_little_memory) {
  const FileUse& use = GetParam();
  for (const HostileFile& file : hostile_files(base_.folder, use.suffix, use.beginning)) {
    SCOPED_TRACE(file.name);
    const Outcome o = with(file.path);
    EXPECT_FALSE(o.timed_out);
    EXPECT_LT(o.cpu_s, 1);
    EXPECT_LT(o.resident_kib, 256 << 10);
    if (is_good(use, file.name)) continue;
    EXPECT_EQ(o.exit_code, 2) << o.err << o.out;
    // The verdict on a proof is a result, on stdout.
    const std::string said = std::string(use.name) == "proof" ? o.out + o.err : o.err;
    EXPECT_TRUE(is_one_line(said)) << said;
    EXPECT_TRUE(is_inert(said)) << said;
    EXPECT_LT(said.size(), 2500u);
    EXPECT_THAT(said, Not(HasSubstr("defect of halmark")));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HostileFileOf, testing::ValuesIn(uses()),
                         [](const auto& info) { return std::string(info.param.name); });

class HostileInput : public HalmarkTest {};

TEST_F(HostileInput, as_a_plugin_is_a_refused_row_and_the_others_go_on) {
  for (const HostileFile& file : hostile_files(base_.folder, ".so",
                                               "\x7f"
                                               "ELF")) {
    SCOPED_TRACE(file.name);
    if (file.name == "folder") continue;  // a folder holds plugins
    const Outcome o = halmark({"devices", "--plugin", file.path});
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_LT(o.cpu_s, 2) << "a worker that is asked for each plugin";
    EXPECT_LT(o.resident_kib, 256 << 10);
    EXPECT_THAT(o.out, AllOf(HasSubstr("refused"), HasSubstr("fake")));
  }
}

struct Pipe {
  explicit Pipe(const std::string& text) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    read = ends[0];
    write = ends[1];
    EXPECT_EQ(::write(write, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  ~Pipe() {
    close(read);
    end();
  }
  void end() {
    if (write >= 0) close(write);
    write = -1;
  }
  int read = -1, write = -1;
};

TEST_F(HostileInput, a_dash_is_a_pipe) {
  Pipe pipe(good_sweep);
  pipe.end();
  Launch l = launch({"tune", "-", "--latency", "roofline", "--plan"});
  l.input = pipe.read;
  const Outcome o = run(l);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("model qwen3-0.6b"));
}

TEST_F(HostileInput, what_is_wrong_in_a_pipe_has_its_place) {
  Pipe pipe("name = \"x\"\n= 3\n");
  pipe.end();
  Launch l = launch({"tune", "-", "--plan"});
  l.input = pipe.read;
  const Outcome o = run(l);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("standard input:2:1"));
}

TEST_F(HostileInput, an_endless_device_is_no_pipe) {
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (const Arguments& arguments : {Arguments{"tune", "-", "--plan"}, Arguments{"model", "-"},
                                     Arguments{"trace", "-"}, Arguments{"verify-front", "-"}}) {
    Launch l = launch(arguments);
    l.input = zero;
    const Outcome o = run(l);
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_THAT(o.err, HasSubstr("standard input: cannot be read: it is no pipe but a device"));
  }
  close(zero);
}

// The pipe's writer never ends, and never writes enough.
TEST_F(HostileInput, sigterm_ends_what_waits_for_a_pipe) {
  for (const auto& [number, code] : {std::pair{SIGTERM, 143}, std::pair{SIGINT, 130}}) {
    const Pipe pipe("name = \"x\"\n");
    Launch l = launch({"tune", "-", "--plan"});
    l.input = pipe.read;
    Process process(l);
    // It waits for more when it has taken what there is.
    for (int left = 1; left > 0; usleep(1000)) ASSERT_EQ(ioctl(pipe.read, FIONREAD, &left), 0);
    process.signal(number);
    const Outcome o = process.wait();
    EXPECT_EQ(o.exit_code, code) << o.err;
    EXPECT_FALSE(o.timed_out);
    EXPECT_EQ(o.err, "halmark: interrupted\n");
  }
}

std::string batches(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += (i > 1 ? "," : "") + std::to_string(i);
  return out;
}

std::string large_sweep(const std::string& sampler, int count, const std::string& more = "") {
  return "name = \"s\"\nmodel = \"qwen3-0.6b\"\nbackend = \"fake\"\ndtypes = [\"f32\", \"bf16\"]\n"
         "sampler = \"" +
         sampler + "\"\nbudget_s = 30\nshards = [1]\n" + more +
         "[[workload]]\nphase = \"decode\"\ncontext = 64\nbatch = [" + batches(count) + "]\n";
}

// 1,600 groups of which all but a few are left out: took 150 s of CPU.
TEST_F(HostileInput, a_plan_of_many_batch_sizes_is_made_in_seconds) {
  write("s.toml", large_sweep("grid", 800));
  const Outcome o = halmark({"tune", "s.toml", "--plan"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("of 1600 combinations"));
  EXPECT_LT(o.cpu_s, 10);
  EXPECT_LT(o.resident_kib, 1 << 20);
}

TEST_F(HostileInput, both_sides_of_what_a_grid_may_be) {
  write("most.toml", large_sweep("grid", 2048));
  const Outcome most = halmark({"tune", "most.toml", "--plan"});
  EXPECT_EQ(most.exit_code, 0) << most.err;
  EXPECT_LT(most.cpu_s, 20);
  write("more.toml", large_sweep("grid", 2049));
  const Outcome more = halmark({"tune", "more.toml", "--plan"});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_TRUE(is_one_line(more.err)) << more.err;
  EXPECT_THAT(more.err, AllOf(HasSubstr("more.toml:5:11"), HasSubstr("4098 configurations"),
                              HasSubstr("4096"), HasSubstr("auto")));
  EXPECT_LT(more.cpu_s, 2);
}

std::string with_shards(std::string sweep, int count) {
  const std::string one = "shards = [1]";
  return sweep.replace(sweep.find(one), one.size(), "shards = [" + batches(count) + "]");
}

TEST_F(HostileInput, absurd_spaces_are_planned_or_refused_in_seconds) {
  std::string contexts;
  for (int i = 1; i <= 300; ++i) {
    contexts += "[[workload]]\nphase = \"decode\"\ncontext = " + std::to_string(i) + "\nbatch = [" +
                batches(200) + "]\n";
  }
  const std::vector<std::pair<std::string, std::string>> sweeps = {
      {large_sweep("auto", 10'000), "20000 configurations"},
      {large_sweep("auto", 65'536), "longer than 65536 bytes"},
      {with_shards(large_sweep("auto", 4096), 4096), "the limit is 1000000000"},
      {with_shards(large_sweep("auto", 1), 4096), "1.37e+11 combinations; the limit is 1000000000"},
      {with_shards(large_sweep("auto", 8), 200), "of 128000000 combinations"},
      {large_sweep("auto", 1) + contexts, "120000 configurations"},
  };
  for (const auto& [text, expected] : sweeps) {
    SCOPED_TRACE(expected);
    write("s.toml", text);
    const Outcome o = halmark({"tune", "s.toml", "--plan"});
    EXPECT_THAT(o.out + o.err, HasSubstr(expected));
    EXPECT_TRUE(o.exit_code == 0 || o.exit_code == 2) << o.exit_code << o.err;
    if (o.exit_code == 2) {
      EXPECT_TRUE(is_one_line(o.err)) << o.err;
    }
    EXPECT_LT(o.cpu_s, 10);
  }
}

// 12 TB of operands: half of the memory was faulted in for them, deaf to signals.
TEST_F(HostileInput, a_kernel_that_no_memory_holds_is_a_row_at_once) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome o =
      halmark({"bench", "--op", "gemm", "--params", "m=1000000,n=1000000,k=1000000", "--dtype",
               "f32", "--backend", "fake", "--rounds", "1", "--no-store", "--json"});
  const double taken_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(o.exit_code, 4) << o.err << o.out;
  EXPECT_EQ(envelope_of(o.out)["data"]["rows"][0]["status"], "out_of_memory") << o.out;
  EXPECT_LT(o.resident_kib, 256 << 10);
  EXPECT_LT(taken_s, 10);
}

// Of a running process, from /proc; 0 when it has ended.
double cpu_s_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// The space takes seconds to be counted.
TEST_F(HostileInput, sigterm_ends_planning) {
  write("s.toml", with_shards(large_sweep("auto", 800), 64));
  Process process(launch({"tune", "s.toml", "--plan"}));
  double before = 0;
  for (int i = 0; before < 0.3 && i < 20'000; ++i) {
    before = cpu_s_of(process.pid());
    usleep(2000);
  }
  process.signal(SIGTERM);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 143) << o.err;
  EXPECT_EQ(o.err, "halmark: interrupted\n");
  EXPECT_LT(o.cpu_s, before + 1);
}

class InsecurePlugin : public HalmarkTest {
 protected:
  // A copy that others may write.
  std::string insecure() const {
    const std::string copy = path("hm_fake.so");
    std::filesystem::copy_file(base_.environment.at("HALMARK_PLUGIN_PATH"), copy);
    chmod(copy.c_str(), 0666);
    return copy;
  }
};

TEST_F(InsecurePlugin, is_refused_by_a_message_that_names_an_option_that_exists) {
  base_.environment["HALMARK_PLUGIN_PATH"] = insecure();
  const Arguments bench = {"bench",       "--backend", "fake", "--op", "gemm", "--params",
                           "m=8,n=8,k=8", "--dtype",   "f32",  "--db", "r.db"};
  const Outcome refused = halmark(bench);
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("is writable by others"), HasSubstr("--allow-insecure-plugin")));
  EXPECT_TRUE(is_one_line(refused.err));

  Arguments allowed = bench;
  allowed.emplace_back("--allow-insecure-plugin");
  const Outcome o = halmark(allowed);
  EXPECT_THAT(o.err, AllOf(HasSubstr("warning W-PLUGIN-01"), HasSubstr("is writable by others")));
  EXPECT_THAT(sql(path("r.db"), "SELECT command FROM run"), HasSubstr("--allow-insecure-plugin"));

  allowed.emplace_back("--json");
  const Json told = envelope_of(halmark(allowed).out);
  EXPECT_THAT(told["warnings"].dump(), HasSubstr("W-PLUGIN-01"));
}

TEST_F(HostileInput, json_on_a_terminal_is_inert_and_whole) {
  const std::string name =
      "a\xc2\x9b"
      "b\xe2\x80\xae"
      "c";
  const Outcome o = halmark({"model", "qwen3-0.6b", "--explain", name, "--json"});
  EXPECT_EQ(o.exit_code, 2);
  std::string shown = o.out;
  std::ranges::replace(shown, '\n', ' ');
  EXPECT_TRUE(is_inert(shown)) << o.out;
  EXPECT_TRUE(envelope_of(o.out)["error"].is_object());
}

}  // namespace
}  // namespace halmark::integration
