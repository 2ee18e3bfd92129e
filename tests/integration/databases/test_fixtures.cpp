// Databases, proofs and studies that halmark 0.1.0 wrote, and what it said of them and of sweeps
// and models: this program reads them as that one did and says the same
// (tests/data/fixtures/README.md).
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = test::in_source("/tests/data/fixtures");

// Room for sums in another order, and for nothing else.
constexpr double tolerance = 1e-12;

// Keys that are in the expected files and not compared: the lower bound of an operator or a step,
// and what limits it. What these count is being changed on purpose, while times, FLOPs, bytes and
// memory stay as they are. `linear` of a precision is a dtype per kind of linear now.
const std::set<std::string, std::less<>> left_out = {"lower_bound_ns", "lower_bound_us", "bound",
                                                     "linear"};

// "down_proj (memory)": the operator is compared, its limiter is left out as above.
constexpr std::string_view key_with_limiter = "bottleneck";

// Holds where everything that is expected is there; more may be there. Arrays have the same length.
class Comparison {
 public:
  Comparison(const Json& expected, const Json& actual) { compare(expected, actual, ""); }

  testing::AssertionResult result() const {
    if (count_ == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "differences: " << count_ << ", the first:" << first_;
  }

 private:
  void compare(const Json& expected, const Json& actual, const std::string& path) {
    if (expected.is_object() && actual.is_object()) {
      compare_members(expected, actual, path);
    } else if (expected.is_array() && actual.is_array()) {
      compare_elements(expected, actual, path);
    } else if (expected.is_number_float() && actual.is_number_float()) {
      const double a = expected, b = actual;
      const double scale = std::max(std::abs(a), std::abs(b));
      if (std::abs(a - b) > tolerance * scale) tell(path, expected.dump(), actual.dump());
    } else if (expected != actual || expected.is_number_float() != actual.is_number_float()) {
      tell(path, expected.dump(), actual.dump());
    }
  }

  void compare_members(const Json& expected, const Json& actual, const std::string& path) {
    for (const auto& [key, value] : expected.items()) {
      if (left_out.contains(key)) continue;
      const std::string below = path.empty() ? key : path + '.' + key;
      if (!actual.contains(key)) {
        tell(below, value.dump(), "nothing");
      } else if (key == key_with_limiter && value.is_string() && actual[key].is_string()) {
        compare(without_limiter(value), without_limiter(actual[key]), below);
      } else {
        compare(value, actual[key], below);
      }
    }
  }

  void compare_elements(const Json& expected, const Json& actual, const std::string& path) {
    if (expected.size() != actual.size()) {
      tell(path, std::to_string(expected.size()) + " elements", std::to_string(actual.size()));
    }
    for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
      compare(expected[i], like(expected[i], i, actual), path + '[' + std::to_string(i) + ']');
    }
  }

  // Configurations have no order of their own: each is compared with the one of the same key.
  static const Json& like(const Json& one, std::size_t index, const Json& all) {
    for (const char* name : {"key", "deployment"}) {
      if (!one.is_object() || !one.contains(name)) continue;
      for (const Json& other : all) {
        if (other.contains(name) && is_same(one[name], other[name])) return other;
      }
    }
    return all[index];
  }

  static bool is_same(const Json& one, const Json& other) {
    Comparison comparison(one, other);
    return comparison.count_ == 0;
  }

  static std::string without_limiter(const std::string& text) {
    return text.substr(0, text.find(" ("));
  }

  void tell(const std::string& path, const std::string& expected, const std::string& actual) {
    constexpr std::size_t length_max = 300;
    if (++count_ > 10) return;
    first_ += "\n  " + path + ": " + expected.substr(0, length_max) + " expected, " +
              actual.substr(0, length_max) + " found";
  }

  std::size_t count_ = 0;
  std::string first_;
};

testing::AssertionResult holds_all(const Json& actual, const Json& expected) {
  return Comparison(expected, actual).result();
}

// Fronts of bounds alone were called valid then.
bool has_measured_front(const Json& data) {
  return std::ranges::any_of(data["front"], [](const Json& point) {
    return std::ranges::any_of(point["operators"],
                               [](const Json& op) { return op["provenance"] == "measured"; });
  });
}

// What the error of a run was called and measured by then: kernels once in front of it and once
// behind, today's composition. What had been printed before was not kept.
void use_todays_words(Json& data) {
  if (!data.contains("validations")) return;
  for (Json& point : data["front"]) {
    point["composition_error"] = point["relative_error"];
    point.erase("relative_error");
  }
  for (Json& run : data["validations"]) {
    if (!run["measured_ns"].is_null()) {
      run["composition"] = {{"composed_ns", run["predicted_ns"]}};
      const bool counts = run["status"] == "ok" || run["status"] == "suspect";
      run["composition_error"] = counts ? run["relative_error"] : Json(nullptr);
    }
    for (const char* name : {"predicted_ns", "predicted_interval", "relative_error"}) {
      run.erase(name);
    }
    for (Json& op : run["operators"]) {
      op["composed_ns"] = op["predicted_ns"];
      op.erase("predicted_ns");
    }
  }
  data["composition_error"] = {{"points", data["composition_error"]["points"]}};
  if (!has_measured_front(data)) data["validity"] = "none";
}

// Kernels of which every row is noisy had no figure then; today they show it with their label.
void forget_withheld_figures(Json& data) {
  if (!data.contains("kernels")) return;
  for (Json& kernel : data["kernels"]) {
    if (!kernel.is_object() || kernel.value("status", "") != "invalid") continue;
    for (const char* name : {"rounds", "duration_ns", "ci_low_ns", "ci_high_ns"}) {
      kernel.erase(name);
    }
  }
}

bool has_idle_stages(const Json& point) {
  const Json& of = point.contains("deployment") ? point["deployment"] : point["config"];
  const Json& load = of.contains("workload") ? of["workload"] : of;
  const Json& parallel = of.contains("parallel") ? of["parallel"] : of;
  if (!load.contains("batch") || !parallel.contains("pp")) return false;
  return load["batch"].get<std::int64_t>() <
         parallel["dp"].get<std::int64_t>() * parallel["pp"].get<std::int64_t>();
}

// Pipelines with fewer sequences than stages were no configurations then.
void forget_idle_stages(Json& data) {
  if (!data.is_object() || !data.contains("evaluations")) return;
  for (const char* list : {"front", "evaluations"}) {
    Json kept = Json::array();
    for (Json& point : data[list]) {
      if (!has_idle_stages(point)) {
        kept.push_back(std::move(point));
      } else if (std::string_view(list) == "evaluations") {
        Json& count = data["status_counts"]["evaluations"][point["status"].get<std::string>()];
        count = count.get<std::int64_t>() - 1;
      }
    }
    data[list] = std::move(kept);
  }
}

class Fixtures : public HalmarkTest {
 protected:
  Fixtures() {
    for (const auto& entry : fs::directory_iterator(fixtures)) {
      if (entry.is_regular_file()) fs::copy_file(entry.path(), path(entry.path().filename()));
    }
  }

  static Json expected(const std::string& name) {
    Json out = read_json_file(std::string(fixtures) + "/expected/" + name + ".json");
    if (out.contains("data")) {
      use_todays_words(out["data"]);
      forget_withheld_figures(out["data"]);
    }
    return out;
  }
};

struct Command {
  std::string name;  // of the expected file
  Arguments arguments;
};

void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }

Arguments words(const std::string& line) {
  std::istringstream in(line);
  Arguments out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::vector<Command> commands_on_databases() {
  std::vector<Command> out;
  for (const std::string name : {"dense", "certify", "moe", "interrupted"}) {
    const std::string db = name + ".db";
    out.push_back({"report-" + name, {"report", "--db", db}});
    out.push_back({"verify-" + name, {"verify", db}});
    if (name == "interrupted") continue;  // it ended before there was anything for a study
    out.push_back({"study-list-" + name, {"study", "list", "--db", db}});
  }
  for (const std::string name : {"dense decode", "dense prefill", "certify decode", "moe decode"}) {
    const std::size_t space = name.find(' ');
    const std::string db = name.substr(0, space), phase = name.substr(space + 1);
    out.push_back({"study-show-" + db + '-' + phase,
                   {"study", "show", name + ", run 1", "--all", "--db", db + ".db"}});
  }
  return out;
}

std::vector<Command> commands_on_proofs() {
  return {
      {"verify-front-certify", words("verify-front certify.hmproof --journal certify.db")},
      {"verify-front-gap", words("verify-front gap.hmproof")},
  };
}

std::vector<Command> commands_that_price() {
  const auto tune = [](const std::string& name, const std::string& line) {
    return Command{"tune-" + name, words("tune " + line)};
  };
  const auto model = [](const std::string& name, const std::string& line) {
    // Bounds, as they were before there were forecasts.
    const bool has_device = line.find("--device") != line.npos;
    return Command{"model-" + name,
                   words("model " + name + ' ' + line + (has_device ? " --latency roofline" : ""))};
  };
  return {
      tune("certify-journal",
           "certify.toml --latency journal:certify.db --device-file device.toml"),
      tune("certify-journal-roofline",
           "certify.toml --latency journal:certify.db,roofline --device-file device.toml"),
      tune("dense-roofline", "dense.toml --latency roofline --device-file device.toml"),
      tune("dense-roofline-h100", "dense.toml --latency roofline --device-file h100-sxm"),
      tune("moe-roofline-h100", "moe.toml --latency roofline --device-file h100-sxm"),
      {"tune-serve-235b", words("tune serve-235b.toml")},
      model("llama-3.1-8b",
            "--phase decode --batch 16 --context 4096 --tp 2 --pp 2 --dtype bf16 "
            "--device h100-sxm"),
      model("qwen3-0.6b",
            "--phase prefill --batch 4 --new-tokens 512 --context 2048 --dp 2 --tp 2 "
            "--dtype int8"),
      model("qwen3-235b-a22b",
            "--phase decode --batch 64 --context 8192 --tp 8 --ep 8 --routing-skew 50 "
            "--dtype bf16 --device h200"),
      model("deepseek-v3",
            "--phase decode --batch 64 --context 4096 --tp 8 --pp 2 --ep 8 --dtype bf16 "
            "--mtp 1 --acceptance 0.85 --device h200"),
      model("qwen3-next-80b-a3b",
            "--phase prefill --batch 2 --new-tokens 4096 --context 4096 --tp 4 --dtype bf16 "
            "--device h100-sxm"),
      model("nemotron-h-56b", "--phase decode --batch 32 --context 8192 --tp 4 --dtype bf16"),
      model("gpt-oss-120b",
            "--phase decode --batch 8 --context 8192 --tp 2 --ep 2 --dtype mxfp4 --device b200"),
  };
}

// What is assumed of a model is said since then.
void forget_notes_of_models(Json& data) {
  if (!data.contains("notes")) return;
  Json kept = Json::array();
  for (const Json& note : data["notes"]) {
    if (!note.get<std::string>().starts_with("model: ")) kept.push_back(note);
  }
  data["notes"] = kept;
}

class FixtureCommand : public Fixtures, public testing::WithParamInterface<Command> {};

TEST_P(FixtureCommand, says_what_it_said) {
  Arguments arguments = GetParam().arguments;
  arguments.emplace_back("--json");
  const Outcome o = halmark(std::move(arguments));
  const Json then = expected(GetParam().name);
  EXPECT_EQ(o.exit_code, then["exit_code"]) << o.err;
  Json now = envelope_of(o.out);
  if (now.contains("data")) {
    forget_idle_stages(now["data"]);
    forget_notes_of_models(now["data"]);
  }
  EXPECT_TRUE(holds_all(now, then));
}

std::string test_name(const testing::TestParamInfo<Command>& info) {
  std::string out = info.param.name;
  std::ranges::replace_if(
      out, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Databases, FixtureCommand, testing::ValuesIn(commands_on_databases()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Proofs, FixtureCommand, testing::ValuesIn(commands_on_proofs()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Prices, FixtureCommand, testing::ValuesIn(commands_that_price()),
                         test_name);

// Exit code and lines of stdout.
Json said(const Outcome& outcome) {
  Json lines = Json::array();
  std::istringstream text(outcome.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return {{"exit_code", outcome.exit_code}, {"text", lines}};
}

TEST_F(Fixtures, a_report_of_an_interrupted_run_reads_as_it_did) {
  Json actual = {{"report", said(halmark({"report", "--db", "interrupted.db"}))}};
  // Below the title: the machine, where it is the one that measured.
  Json& lines = actual["report"]["text"];
  while (lines.size() > 1 && lines[1] != "") lines.erase(1);
  Json then = expected("text-interrupted");
  // Where no run was asked for, no verdict on composing is printed any more.
  std::erase_if(then["report"]["text"].get_ref<Json::array_t&>(), [](const Json& line) {
    return line.get<std::string>().starts_with("composition error: UNDECIDED");
  });
  for (Json* text : {&lines, &then["report"]["text"]}) {
    for (Json& line : *text) {
      const std::string said = line;
      if (said.starts_with("valid: ") || said.starts_with("no front: ")) line = "no front";
    }
  }
  EXPECT_TRUE(holds_all(actual, then));
}

class FixtureProof : public Fixtures, public testing::WithParamInterface<std::string> {
 protected:
  // One digit more in the stated interval of the first evaluated configuration.
  void change_proof() const {
    std::string text = read(file_);
    text.insert(text.find("\"evaluated\":[[") + 14, "1");
    write(file_, text);
  }
  Outcome script() const {
    Launch out = base_;
    out.arguments = {"python3", "-B", test::in_source("/tests/verify_front_proof.py"), file_};
    return run(out);
  }

  std::string file_ = GetParam() + ".hmproof";
};

TEST_P(FixtureProof, gets_the_verdict_that_it_got) {
  Json actual;
  actual["alone"] = said(halmark({"verify-front", file_}));
  // The rows are those of certify.hmproof: what another run measured proves nothing.
  actual["with_journal"] = said(halmark({"verify-front", file_, "--journal", "certify.db"}));
  change_proof();
  actual["changed"] = said(halmark({"verify-front", file_}));
  EXPECT_TRUE(holds_all(actual, expected("proof-" + GetParam())));
}

TEST_P(FixtureProof, gets_the_verdict_that_it_got_from_the_script) {
  if (!found_program("python3")) GTEST_SKIP() << "there is no python3";
  Json actual;
  actual["alone"] = said(script());
  change_proof();
  actual["changed"]["exit_code"] = script().exit_code;
  EXPECT_TRUE(holds_all(actual, expected("script-" + GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Proofs, FixtureProof, testing::Values("certify", "gap"),
                         [](const auto& info) { return info.param; });

TEST(FixtureComparison, tells_where_something_differs) {
  const Json expected = {{"a", {{{"ns", 3.5}, {"count", 2}}, {{"ns", 7.25}, {"name", "x"}}}}};
  const auto told = [&](const Json& actual) -> std::string {
    return holds_all(actual, expected).message();
  };
  Json actual = expected;
  actual["more"] = 1;
  actual["a"][1]["ns"] = 7.25 * (1 + 1e-13);
  EXPECT_EQ(told(actual), "");
  actual["a"][1]["ns"] = 7.25 * (1 + 1e-10);
  EXPECT_THAT(told(actual), testing::HasSubstr("differences: 1, the first:\n  a[1].ns: 7.25 "));
  actual = expected;
  actual["a"][0]["count"] = 2.0;
  EXPECT_THAT(told(actual), testing::HasSubstr("a[0].count: 2 expected, 2.0 found"));
  actual = expected;
  actual["a"][0].erase("count");
  EXPECT_THAT(told(actual), testing::HasSubstr("a[0].count: 2 expected, nothing found"));
  actual = expected;
  actual["a"].erase(1);
  EXPECT_THAT(told(actual), testing::HasSubstr("a: 2 elements expected, 1 found"));
}

TEST(FixtureComparison, leaves_out_bounds_and_limiters_alone) {
  const Json expected = {{"lower_bound_ns", 1.5}, {"bottleneck", "lm_head (memory)"}};
  EXPECT_TRUE(holds_all({{"lower_bound_ns", 2.5}, {"bottleneck", "lm_head (compute)"}}, expected));
  EXPECT_FALSE(holds_all({{"lower_bound_ns", 1.5}, {"bottleneck", "rope (memory)"}}, expected));
}

}  // namespace
}  // namespace halmark::integration
