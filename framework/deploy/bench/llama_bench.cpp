// llama-bench: one test per row; one sequence at a time, whose tokens are prompt or generated.
#include <algorithm>
#include <cmath>

#include "core/input/file_kind.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"

namespace halmark::deploy {
namespace {

constexpr double mean_agreement = 1e-3;  // of a mean with its samples: both are rounded

// The mean that a row states is that of its own samples.
void check_samples(const BenchObject& row, double avg_ns, EngineStep& step) {
  const BenchObject list = row.list("samples_ns");
  std::vector<double> samples;
  for (const Json& sample : list.value) {
    if (!sample.is_number()) throw refused("a number is expected", list.where);
    samples.push_back(checked_time(sample.get<double>(), list.where));
  }
  if (samples.empty()) throw refused("there is no sample", list.where);
  const double mean = figures_of(samples).mean;
  if (std::fabs(mean - avg_ns) > mean_agreement * avg_ns) {
    throw refused(
        "its mean is " + number_text(mean, 6) + " ns, and avg_ns says " + number_text(avg_ns, 6),
        list.where);
  }
  step.samples = std::ssize(samples);
}

std::string device_of(const BenchObject& row) {
  const std::string backends = row.text("backends"), cpu = row.text("cpu_info");
  const std::string gpu = row.text_or_none("gpu_info");
  return backends == "CPU" || gpu.empty()
             ? cpu + ", " + std::to_string(row.count("n_threads")) + " threads"
             : gpu + " (" + backends + ')';
}

EngineStep step_of(const BenchObject& row) {
  const std::int64_t prompt = row.count("n_prompt"), generated = row.count("n_gen");
  if (prompt + generated == 0) throw refused("a test of no token", row.where);
  EngineStep out{.engine = "llamacpp",
                 .engine_version = 'b' + std::to_string(row.count("build_number")) + " (" +
                                   row.text("build_commit") + ')',
                 .model = row.text("model_filename"),
                 .precision = row.text("model_type"),
                 .device = device_of(row),
                 .batch = 1,
                 .input_tokens = prompt,
                 .output_tokens = generated,
                 .cached_tokens = row.has("n_depth") ? row.count("n_depth") : 0};
  const double avg_ns = row.time_ns("avg_ns", 1);
  check_samples(row, avg_ns, out);
  // Of generated tokens the time of one: the test ran them one after the other.
  const double steps = prompt == 0 ? as_double(generated) : 1;
  out.phase = prompt == 0 ? "decode" : generated == 0 ? "prefill" : "request";
  out.how = prompt == 0 ? "mean of " + std::to_string(generated) + " tokens in a row"
            : generated == 0
                ? "the prompt in parts of " + std::to_string(row.count("n_ubatch")) + " tokens"
                : "the prompt and all generated tokens";
  out.step_ns = checked_time(avg_ns / steps, row.place("avg_ns"));
  if (const auto deviation = row.deviation_ns("stddev_ns", 1)) {
    out.deviation_ns = *deviation / steps;
  }
  return out;
}

// The file's own count of parameters is that of the model that the user names.
void check_model(const BenchObject& row, const StatedFacts& stated) {
  if (stated.parameters == 0 || !row.has("model_n_params")) return;
  constexpr double agreement = 0.03;  // positions and norms are counted or not
  const auto own = as_double(row.count("model_n_params"));
  for (const std::int64_t known : {stated.parameters, stated.untied_parameters}) {
    if (std::fabs(own / as_double(known) - 1) < agreement) return;
  }
  throw refused("states " + number_text(own / 1e9, 4) + " B parameters, and " + stated.model_id +
                    " has " + number_text(as_double(stated.parameters) / 1e9, 4) + " B",
                row.place("model_n_params"),
                "name the model that was measured, or leave out --model");
}

// A JSON document in a text with lines of other programs around it.
struct Document {
  std::string_view text;
  std::size_t line = 1;
};

// Places in messages are those of the file: what is broken is read again behind its line breaks.
Json parsed(const Document& document, const std::string& path) {
  try {
    return parse_json(document.text, path);
  } catch (const Error&) {
    return parse_json(std::string(document.line - 1, '\n') + std::string(document.text), path);
  }
}

bool begins_document(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || (line[first] != '{' && line[first] != '[')) return false;
  const std::size_t next = line.find_first_not_of(" \t\r", first + 1);
  return next == std::string_view::npos ||
         std::string_view("\"{}]").find(line[next]) != std::string_view::npos;
}

// Where the brackets that open at `begin` have closed again, or the end of the text.
std::size_t end_of_document(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      return std::min(text.find('\n', at), text.size());
    }
  }
  return text.size();
}

std::vector<Document> documents_of(std::string_view text, std::int64_t& other_lines) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<Document> out;
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    if (begins_document(whole)) {
      const std::size_t close = end_of_document(text, begin);
      out.push_back({text.substr(begin, close - begin), line});
      line += as_size(std::count(text.begin() + std::ptrdiff_t(begin),
                                 text.begin() + std::ptrdiff_t(close), '\n'));
      begin = close + 1;
    } else {
      other_lines += whole.find_first_not_of(" \t\r") != std::string_view::npos ? 1 : 0;
      begin = end + 1;
    }
    ++line;
  }
  return out;
}

// The rows themselves, or the one list of rows of an object.
const Json& rows_in(const Json& document) {
  if (!document.is_object() || document.contains("n_prompt")) return document;
  const Json* found = nullptr;
  for (const Json& member : document) {
    const bool has_rows = member.is_array() && !member.empty() && member.front().is_object() &&
                          member.front().contains("n_prompt");
    if (has_rows && found != nullptr) return document;
    if (has_rows) found = &member;
  }
  return found == nullptr ? document : *found;
}

}  // namespace

BenchRead llama_bench_steps(const std::string& text, const std::string& path,
                            const StatedFacts& stated) {
  std::int64_t other_lines = 0;
  std::vector<Document> documents = documents_of(text, other_lines);
  if (documents.empty()) {  // neither rows nor lines around them
    documents.push_back({text});
    other_lines = 0;
  }
  require_kind(kind_of(text) != nullptr ? text : documents.front().text, path, "llama-bench");
  BenchRead out;
  const auto take = [&](const BenchObject& row) {
    out.steps.push_back(step_of(row));
    check_model(row, stated);
    out.take();
  };
  for (const Document& document : documents) {
    const Json whole = parsed(document, path);
    const Json& rows = rows_in(whole);
    if (rows.is_object()) {
      take({rows, path + ':' + std::to_string(document.line)});
      continue;
    }
    const BenchObject list{rows, path + ':'};
    for (const auto i : indices(rows)) take(list.at(i));
  }
  out.leave_out(other_lines, "lines of other programs");
  return out;
}

}  // namespace halmark::deploy
