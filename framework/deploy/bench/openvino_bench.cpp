// OpenVINO: llm_bench's reports of generated text, and benchmark_app's of any graph.
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"

namespace halmark::deploy {
namespace {

// Iterations of one prompt; the first is a warm-up and left out, as the tool's own averages do.
struct PromptRows {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::vector<double> first_ns, later_ns;
};

void add_steps(const EngineStep& like, const std::map<std::string, PromptRows>& prompts,
               const std::string& where, std::vector<EngineStep>& out) {
  for (const auto& [index, rows] : prompts) {
    const auto add = [&](const std::vector<double>& samples, const char* phase, const char* how) {
      if (samples.empty()) return;
      const SampleFigures figures = figures_of(samples);
      EngineStep step = like;
      step.phase = phase;
      step.how = how + std::string(", prompt ") + index;
      step.input_tokens = rows.input_tokens;
      step.output_tokens = rows.output_tokens;
      step.step_ns = figures.mean;
      step.deviation_ns = figures.deviation;
      step.samples = std::ssize(samples);
      out.push_back(std::move(step));
    };
    add(rows.first_ns, "prefill", "latency of the first token");
    add(rows.later_ns, "decode", "mean latency of the other tokens");
  }
  if (out.empty()) {
    throw refused("no iteration behind the warm-up has a latency", where,
                  "llm_bench -n 1 or more, of a model that generates text");
  }
}

// Absent ones are "" or below zero.
void take_latency(const BenchObject& row, const char* key, std::vector<double>& into) {
  if (!row.has(key) || !row.value.at(key).is_number() || row.value.at(key).get<double>() < 0)
    return;
  into.push_back(row.time_ns(key, millisecond_ns));
}

// What its own averages leave out too, and what has no latency at all.
struct LeftOut {
  std::int64_t warm_ups = 0, without_latency = 0, averages = 0;

  void say(BenchRead& out) const {
    out.leave_out(warm_ups, "of warm-ups");
    out.leave_out(without_latency, "without a latency");
    out.leave_out(averages, "of averages and comments");
  }
};

BenchRead text_steps(const BenchObject& file) {
  const BenchObject meta = file.object("metadata");
  const EngineStep like{.engine = "openvino",
                        .model = meta.text("model"),
                        .precision = meta.text_or_none("precision"),
                        .device = meta.text("device"),
                        .batch = meta.count("batch_size")};
  if (meta.text("framework") != "ov") {
    throw refused("'" + printable(meta.text("framework")) + "' is not OpenVINO ('ov')",
                  meta.place("framework"));
  }
  const BenchObject results = file.object("perfdata").list("results");
  std::map<std::string, PromptRows> prompts;
  BenchRead out{.steps = {}, .left_out = {}};
  LeftOut left;
  for (const auto i : indices(results.value)) {
    const BenchObject row = results.at(i);
    if (row.count("iteration") == 0) {
      ++left.warm_ups;
      continue;
    }
    PromptRows& rows = prompts[std::to_string(row.count("prompt_idx"))];
    rows.input_tokens = row.count("input_size");
    rows.output_tokens = row.count("output_size");
    const std::size_t before = rows.first_ns.size() + rows.later_ns.size();
    take_latency(row, "first_latency", rows.first_ns);
    take_latency(row, "second_avg_latency", rows.later_ns);
    const bool has_one = rows.first_ns.size() + rows.later_ns.size() > before;
    has_one ? out.take() : void(++left.without_latency);
  }
  add_steps(like, prompts, results.where, out.steps);
  left.say(out);
  return out;
}

std::vector<EngineStep> graph_steps(const BenchObject& file) {
  const BenchObject setup = file.object("configuration_setup");
  const BenchObject results = file.object("execution_results");
  if (results.has("error")) {
    throw refused("benchmark_app failed: " + printable(results.text("error")),
                  results.place("error"));
  }
  if (setup.has("target device")) return openvino_app_steps(setup, results);
  EngineStep out{.engine = "openvino",
                 .model = setup.text("topology"),
                 .precision = setup.text_or_none("precision"),
                 .device = setup.text("target_device"),
                 .phase = "inference",
                 .batch = setup.count("batch_size"),
                 .step_ns = results.time_ns("latency_avg", millisecond_ns),
                 .least_ns = results.time_ns("latency_min", millisecond_ns),
                 .most_ns = results.time_ns("latency_max", millisecond_ns),
                 .samples = results.count("iterations_num"),
                 .how = "one call of the whole graph"};
  if (*out.least_ns > out.step_ns || *out.most_ns < out.step_ns) {
    throw refused("the mean lies outside of latency_min .. latency_max",
                  results.place("latency_avg"));
  }
  return {out};
}

// Cells of one line of CSV as Python's csv module writes them; no cell here has a line break.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

// A row of the CSV with its place; columns by name.
struct CsvRow {
  const std::map<std::string, std::size_t>& columns;
  std::vector<std::string> cells;
  std::string where;

  const std::string& text(const char* column) const { return cells[columns.at(column)]; }
  std::optional<double> number(const char* column) const {
    const std::string& in = text(column);
    const auto out = read_number<double>(in);
    if (!out) return std::nullopt;
    return out;
  }
  std::int64_t count(const char* column) const {
    const auto out = number(column);
    if (!out || *out < 0 || *out > 1e15) {
      throw refused("'" + printable(text(column)) + "' is no count", where + ':' + column);
    }
    return as_int64(*out);
  }
  void take(const char* column, std::vector<double>& into) const {
    if (text(column).empty() || text(column) == "NA") return;
    const auto ms = number(column);
    if (!ms) throw refused("'" + printable(text(column)) + "' is no number", where + ':' + column);
    into.push_back(checked_time(*ms * millisecond_ns, where + ':' + column));
  }
};

const char* const csv_columns[] = {
    "iteration",  "model",      "framework", "device",          "input_size",         "output_size",
    "prompt_idx", "batch_size", "precision", "1st_latency(ms)", "2nd_avg_latency(ms)"};

std::map<std::string, std::size_t> columns_of(const std::string& header, const std::string& path) {
  std::map<std::string, std::size_t> out;
  const std::vector<std::string> names = cells_of(header);
  for (const auto i : indices(names)) {
    if (out.emplace(names[i], i).second) continue;
    throw refused("column '" + printable(names[i]) + "' stands twice", path + ":1");
  }
  for (const char* name : csv_columns) {
    if (out.contains(name)) continue;
    throw refused("no report of llm_bench: there is no column '" + std::string(name) + "'",
                  path + ":1", "llm_bench --report FILE.csv or --report_json FILE.json writes one");
  }
  return out;
}

BenchRead csv_steps(const std::string& text, const std::string& path) {
  std::map<std::string, std::size_t> columns;
  std::map<std::string, PromptRows> prompts;
  std::optional<EngineStep> like;
  std::size_t number = 0;
  BenchRead out{.steps = {}, .left_out = {}};
  LeftOut left;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (++number == 1) {
      columns = columns_of(line, path);
      continue;
    }
    const CsvRow row{columns, cells_of(line), path + ':' + std::to_string(number)};
    if (row.cells.size() != columns.size()) {
      throw refused(std::to_string(row.cells.size()) + " cells, and the header has " +
                        std::to_string(columns.size()),
                    row.where);
    }
    // Averages and the comments at the end have words there.
    const auto iteration = row.number("iteration");
    if (!iteration || *iteration < 1) {
      ++(iteration ? left.warm_ups : left.averages);
      continue;
    }
    if (row.text("framework") != "ov") {
      throw refused("'" + printable(row.text("framework")) + "' is not OpenVINO ('ov')", row.where);
    }
    if (!like) {
      like = EngineStep{.engine = "openvino",
                        .model = row.text("model"),
                        .precision = row.text("precision"),
                        .device = row.text("device"),
                        .batch = row.count("batch_size")};
    }
    PromptRows& rows = prompts[row.text("prompt_idx")];
    rows.input_tokens = row.count("input_size");
    rows.output_tokens = row.count("output_size");
    const std::size_t before = rows.first_ns.size() + rows.later_ns.size();
    row.take("1st_latency(ms)", rows.first_ns);
    row.take("2nd_avg_latency(ms)", rows.later_ns);
    const bool has_one = rows.first_ns.size() + rows.later_ns.size() > before;
    has_one ? out.take() : void(++left.without_latency);
  }
  add_steps(like.value_or(EngineStep{}), prompts, path, out.steps);
  left.say(out);
  return out;
}

}  // namespace

BenchRead openvino_bench_steps(const std::string& text, const std::string& path) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] != '{' && text[first] != '[') {
    return csv_steps(text, path);
  }
  const Json document = parse_json(text, path);
  const BenchObject file{document, path + ':'};
  if (file.has("perfdata")) return text_steps(file);
  if (file.has("execution_results")) {
    BenchRead out{.steps = graph_steps(file), .unit = "calls of the graph", .left_out = {}};
    out.take(out.steps.front().samples);
    return out;
  }
  throw refused("no report of OpenVINO: neither perfdata nor execution_results is there", path,
                "llm_bench --report_json FILE, or benchmark_app -report_type no_counters "
                "-json_stats writes one");
}

}  // namespace halmark::deploy
