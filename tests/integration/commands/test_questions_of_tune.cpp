// Questions about a deployment as people type them: what the first three lines of `halmark tune`
// hold. Figures are computed here, from weights and memory, or are read from the document.
#include <algorithm>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class QuestionsOfTune : public HalmarkTest {
 protected:
  Arguments asked(const std::string& line) const {
    Arguments out = {"tune"};
    std::size_t at = 0;
    while (at < line.size()) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      out.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }
};

// A sentence that goes on in the next line is one.
std::string first_lines(std::string text, int count) {
  for (std::size_t at; (at = text.find("\n    ")) != std::string::npos;) text.replace(at, 5, " ");
  std::size_t end = 0;
  for (int i = 0; i < count && end != std::string::npos; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

TEST_F(QuestionsOfTune, have_their_answer_in_the_first_three_lines) {
  struct Row {
    const char* line;
    int exit_code;
    std::vector<std::string> holds;
  };
  const std::string usual = "--input 1000, --output 200";
  const Row rows[] = {
      {"qwen3-32b --device h100 --devices 4",
       0,
       {usual, "choice (*): point ", "points with 20 tokens/s a user or more\n",
        " tokens/s per device, TTFT ", ", TPOT "}},
      {"qwen3-32b --device h100", 0, {"assumed: --devices 1, " + usual}},
      {"Qwen/Qwen3-32B --device h100 --devices 4 --ttft 1s --tpot 33ms --as vllm",
       0,
       {"TTFT <= 1000 ms", "TPOT <= 33.0 ms", "P(SLO met) ", "points with P(SLO met) >= 90 %"}},
      {"gpt-oss-120b --device h100 --devices 1", 0, {"mxfp4 1 device: ", usual}},
      // 70 billion parameters in 21.2 GiB a card: 35 + GB in 4 bits fit on two, 70 on four of 16.
      {"llama-3.3-70b --device rtx-4090 --devices 2", 0, {"w4a16 tp2: "}},
      {"llama-3.3-70b --device rtx-4090",
       3,
       {"none: no configuration fits; w4a16 fits from 2 devices (tp2), fp8+kv_cache=f8_e4m3fn from "
        "4 devices (tp4), "
        "bf16 from 8 devices (tp8)"}},
      {"qwen3-32b --device h100 --devices 4 --ttft 1ms",
       0,
       {"none: no configuration is possible that keeps every level"}},
      {"qwen3-32b --device h100 --latency roofline --tpot 30ms",
       0,
       {"which are bounds: P(SLO met) is not known"}},
      {"qwen3-32b --input 4000",
       2,
       {"--input is of a model on a known device", "halmark tune qwen3-32b --device h100"}},
      {"qwen3-32b --print-sweep", 2, {"--print-sweep is of a model on a known device"}},
      {"qwen3-32b --device h100 --validate",
       2,
       {"--validate is of sweeps of a model that are measured; leave it out"}},
      {"nosuchmodel --device h100", 2, {"unknown model 'nosuchmodel'"}},
      {"nosuchmodel", 2, {"unknown model 'nosuchmodel'"}},
      {"served --device nosuch", 2, {"unknown model 'served'"}}};
  for (const Row& row : rows) {
    const Outcome o = halmark(asked(row.line));
    EXPECT_EQ(o.exit_code, row.exit_code) << row.line << o.err;
    const std::string lines = first_lines(row.exit_code == 2 ? o.err : o.out, 3);
    for (const std::string& text : row.holds) EXPECT_THAT(lines, HasSubstr(text)) << row.line;
    EXPECT_THAT(o.out, Not(HasSubstr("to confirm"))) << row.line;
  }
}

// Lines that people read in a terminal, whatever they are piped into; a command is never broken.
TEST_F(QuestionsOfTune, the_choice_is_said_in_lines_of_120_columns) {
  for (const char* line : {"qwen3-32b --device h100 --devices 4",
                           "qwen3-32b --device h100 --devices 4 --ttft 1s --tpot 33ms",
                           "qwen3-32b --device h100 --latency roofline --tpot 30ms"}) {
    const std::string text = halmark(asked(line)).out;
    const std::size_t choice = text.find("\nchoice (*): point ");
    ASSERT_NE(choice, std::string::npos) << text;
    std::istringstream in(text.substr(choice + 1, text.find("\nNVIDIA H100") - choice));
    std::string all, next;
    for (std::string one; std::getline(in, one); all += one + '\n') {
      if (const auto at = one.find("next: "); at != std::string::npos) next = one.substr(at);
      if (one.find("next: ") == std::string::npos) {
        EXPECT_LE(one.size(), 120u) << one;
      }
    }
    EXPECT_THAT(all, HasSubstr(" configurations on the front by TTFT, TPOT, tokens/s per device"));
    EXPECT_THAT(all, HasSubstr("\ngives up TTFT "));
    EXPECT_THAT(next, testing::StartsWith("next: halmark export --point "));
    EXPECT_THAT(next, HasSubstr(" --as vllm"));
  }
}

// What is chosen is the best of those points that the rule admits, by the document's own figures.
TEST_F(QuestionsOfTune, the_choice_is_the_one_that_the_stated_rule_gives) {
  struct Row {
    const char* line;
    bool has_levels;
  };
  for (const Row& row : {Row{"qwen3-32b --device h100 --devices 4 --json", false},
                         Row{"qwen3-32b --device h100 --devices 4 --tpot 33ms --json", true}}) {
    const Json data = data_of(asked(row.line));
    double best = 0, chosen = 0;
    for (const Json& p : data["front"]) {
      const Json& f = p["figures"];
      const bool admitted = row.has_levels ? p["slo_probability"].get<double>() >= 0.9
                                           : f["tpot_ns"].get<double>() <= 50e6;
      const double rate = f["tokens_per_s_per_device"];
      if (admitted) best = std::max(best, rate);
      if (p["point"] == data["picked"]["point"]) chosen = rate;
    }
    EXPECT_GT(best, 0) << row.line;
    EXPECT_EQ(chosen, best) << row.line;
  }
}

TEST_F(QuestionsOfTune, a_pasted_name_has_the_forecast_of_its_shape_and_is_what_is_served) {
  const Json pasted = data_of(asked("Qwen/Qwen3-32B --device h100 --devices 2 --json"));
  const Json own = data_of(asked("qwen3-32b --device h100 --devices 2 --json"));
  ASSERT_EQ(pasted["front"].size(), own["front"].size());
  for (std::size_t i = 0; i < own["front"].size(); ++i) {
    EXPECT_EQ(pasted["front"][i]["figures"], own["front"][i]["figures"]);
  }
  const Outcome o = halmark(asked("llama-3.3-70b --device h100 --devices 4 --as vllm"));
  EXPECT_THAT(o.out, HasSubstr("\nexec vllm serve meta-llama/Llama-3.3-70B-Instruct "));
  EXPECT_THAT(o.out, Not(HasSubstr("Llama-3.1")));
  EXPECT_THAT(o.out, HasSubstr("is the newest release known here; --server-version names another"));
  for (const char* flag : {"--max-model-len", "prefix-caching"}) {
    EXPECT_THAT(o.out, Not(HasSubstr(flag))) << "nothing speaks against the engine's own";
  }
}

TEST_F(QuestionsOfTune, the_next_line_does_what_it_says) {
  const Json found = data_of(asked("qwen3-8b --device h100 --db x.db --json"));
  const std::string next = found["next"];
  const std::string begin = "halmark ";
  ASSERT_THAT(next, testing::StartsWith(begin));
  Arguments words = asked(next.substr(begin.size()));
  words.erase(words.begin());
  const Outcome o = halmark(words);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\nexec vllm serve Qwen/Qwen3-8B "));
}

TEST_F(QuestionsOfTune, nothing_is_written_of_what_is_refused) {
  for (const char* line :
       {"nosuchmodel --device h100", "qwen3-32b --device nosuch",
        "qwen3-32b --device h100 --fabric nosuch", "qwen3-32b --device h100 --latency nosuch",
        "qwen3-32b --device h100 --out x.nosuch", "qwen3-32b --device h100 --ttft 1"}) {
    EXPECT_EQ(halmark(asked(line)).exit_code, 2) << line;
    for (const std::string& file : files()) EXPECT_FALSE(file.ends_with(".toml")) << line << file;
  }
}

TEST_F(QuestionsOfTune, a_priced_search_has_its_page_and_is_reported_again) {
  const Outcome o = halmark(asked("qwen3-8b --device h100 --db x.db --out q.html"));
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(read("q.html"), HasSubstr("<h1>qwen3-8b-1x-h100: qwen3-8b</h1>"));
  const Outcome again = halmark({"report", "--db", "x.db", "--out", "r.html", "--out", "r.csv"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const auto line = [](const std::string& text, const char* begin) {
    const std::size_t at = text.find(begin);
    return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line(again.out, "choice (*): "), line(o.out, "choice (*): "));
  EXPECT_THAT(read("r.html"), HasSubstr("choice (*): point "));
  EXPECT_THAT(read("r.csv"), HasSubstr("qwen3-8b i1000 o200 "));
}

// 18 links of 25 GB/s one way, as NVIDIA states of an H100; one device exchanges nothing.
TEST_F(QuestionsOfTune, the_link_that_prices_collectives_is_named) {
  EXPECT_THAT(halmark(asked("qwen3-8b --device h100 --devices 2")).out,
              HasSubstr("\nlink: collectives that no table has over NVLink4"));
  EXPECT_THAT(halmark(asked("qwen3-8b --device h100 --devices 2")).out,
              HasSubstr(", 450 GB/s of a device one way\n"));
  EXPECT_THAT(halmark(asked("qwen3-8b --device h100")).out, Not(HasSubstr("\nlink: ")));
}

TEST_F(QuestionsOfTune, requests_in_flight_are_those_that_were_stated) {
  const Json data = data_of(asked("qwen3-8b --device h100 --concurrency 3,7 --json"));
  for (const Json& p : data["front"]) {
    EXPECT_TRUE(p["concurrency"] == 3 || p["concurrency"] == 7) << p["key"];
  }
  EXPECT_FALSE(data["front"].empty());
}

}  // namespace
}  // namespace halmark::integration
