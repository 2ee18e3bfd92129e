// A sweep is read whole before anything of it is believed: what contradicts itself is refused here
// with its place in the file, what the machine or the model cannot do later, by those who know
// them.
#include "plan/sweep.hpp"

#include <charconv>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "plan/shard_places.hpp"
#include "plan/sweep_tables.hpp"
#include "plan/toml/load_file.hpp"

namespace halmark {
namespace {

// Absent where the file has no [nightly]. Throws Error (exit 2) with file:line:column.
std::optional<Nightly> read_nightly(const TomlTable& root) {
  const auto table = root.table("nightly");
  if (!table) return std::nullopt;
  Nightly out;
  constexpr double minutes_of_day = 24 * 60;
  out.budget_s = table->number("minutes", 0.01, minutes_of_day) * 60;
  out.keep_samples_nights = as_int(table->integer_or("keep_samples_nights", 1, 10'000, 0));
  out.kernels = read_asked_kernels(*table, "kernel");
  out.sentinels = read_asked_kernels(*table, "sentinel");
  return out;
}

const std::vector<std::string> phases = {"prefill", "decode", "training"};
const std::vector<std::string> strategies = {"data", "tensor", "pipeline", "expert", "context"};
// Context parallelism is priced, not measured: a sweep asks for it.
const std::vector<std::string> default_strategies = {"data", "tensor", "pipeline", "expert"};

std::vector<std::string> step_objective_names() {
  std::vector<std::string> out;
  for (const ObjectiveRow& row : objective_rows()) {
    if (row.of_step != nullptr) out.emplace_back(row.name);
  }
  return out;
}

// Of a sweep that names none.
std::vector<std::string> usual_objective_names() {
  std::vector<std::string> out = step_objective_names();
  std::erase_if(
      out, [](const std::string& name) { return row_of(*parse_objective(name)).is_asked_for; });
  return out;
}

SweepWorkload read_workload(const TomlTable& table) {
  SweepWorkload out;
  out.where = table.where("phase");
  out.phase = *parse_phase(table.choice("phase", phases));
  if (out.phase == Phase::training) {
    throw refused("phase 'training' is modelled, but not measured", out.where,
                  "sweep prefill or decode; halmark model --phase training prices a training step");
  }
  out.batches = table.integers("batch", 1, 65536);
  if (out.phase == Phase::decode) {
    out.context = table.integer("context", 1, tokens_max);
  } else {
    out.new_tokens = table.integer("new_tokens", 1, tokens_max);
    out.context = table.integer_or("context", 1, tokens_max, out.new_tokens);
    if (out.context < out.new_tokens) {
      throw refused("context " + std::to_string(out.context) + " is below new_tokens " +
                        std::to_string(out.new_tokens),
                    table.where("context"),
                    "context counts the keys that the last query sees: cached + new_tokens");
    }
  }
  if (table.has("dtypes")) out.precisions = read_precision_names(table, "dtypes");
  return out;
}

void read_stages(const TomlTable& root, Sweep& out) {
  if (!root.has("stages")) return;
  out.stages_where = root.where("stages");
  if (out.served) {
    throw refused("stages stand beside [request]", out.stages_where,
                  "layers per stage are of steps: keep one of them");
  }
  for (const std::string& text : root.strings("stages")) {
    out.stages.push_back(parse_stages(text, out.stages_where));
  }
}

// They stand for what other keys say of the device, and are measured.
void read_shards_on(const TomlTable& root, Sweep& out) {
  if (!root.has("shards_on")) return;
  out.shards_on_where = root.where("shards_on");
  for (const char* other : {"shards", "backend", "device", "request", "latency", "nightly"}) {
    if (!root.has(other)) continue;
    throw refused("shards_on stands beside " + std::string(other), out.shards_on_where,
                  "it names the device of every shard that is measured: leave one of them out");
  }
  for (const std::string& text : root.strings("shards_on")) {
    out.shards_on.push_back(parse_shard_places(text, out.shards_on_where));
  }
  out.backend = out.shards_on.front().front().backend;
  out.device = out.shards_on.front().front().device;
}

// Where times come from, and between which places of a fabric.
void read_sources(const TomlTable& root, Sweep& out) {
  if (root.has("latency")) {
    out.latency = root.strings("latency");
    out.latency_where = root.where("latency");
  }
  if (root.has("series")) {
    out.series = root.strings("series");
    out.series_where = root.where("series");
  }
  if (root.has("fabric")) {
    out.fabric = root.string("fabric");
    out.fabric_where = root.where("fabric");
  }
}

// What a sweep of steps tells apart from one of requests.
void read_steps(const TomlTable& root, Sweep& out) {
  if (out.served) {
    if (!root.has("workload")) return;
    throw refused("[[workload]] stands beside [request]", root.where("workload"),
                  "steps or requests: keep one of them");
  }
  const std::vector<std::string> all = step_objective_names();
  const std::vector<std::string> wanted =
      root.has("objectives") ? root.choices("objectives", all) : usual_objective_names();
  for (const std::string& name : wanted) out.objectives.push_back(*parse_objective(name));
  for (const TomlTable& table : root.tables("workload")) {
    out.workloads.push_back(read_workload(table));
  }
}

// "1 %": of the front's hypervolume.
double read_regret(const TomlTable& root) {
  const std::string text = root.string("regret");
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view unit(end, text.data() + text.size());
  const bool is_percent = error == std::errc() && (unit == "%" || unit == " %");
  if (is_percent && percent >= 0.1 && percent <= 50) {
    return percent / 100;
  }
  throw refused("regret '" + printable(text) + "' is no share of a front", root.where("regret"),
                "as \"1 %\", from 0.1 % to 50 %");
}

// What it ends is measuring that may end before everything was measured.
void read_regret(const TomlTable& root, Sweep& out) {
  if (!root.has("regret")) return;
  out.regret_where = root.where("regret");
  out.regret = read_regret(root);
  if (out.served || !out.latency.empty()) {
    throw refused("regret ends measuring, and this sweep does not measure", out.regret_where,
                  "leave it out");
  }
  if (!root.has("budget_s")) {
    throw refused("regret is named without a budget", out.regret_where,
                  "add budget_s: the seconds after which measuring ends, whatever is lost");
  }
}

// After everything that says whether the sweep measures.
void read_measuring(const TomlTable& root, Sweep& out) {
  if (const auto table = root.table("measure")) read_measure(*table, out.measure);
  out.nightly = read_nightly(root);
  if (out.nightly && (out.served || !out.latency.empty())) {
    throw refused("[nightly] measures, and this sweep does not", root.where("nightly"),
                  "leave out [request] and latency");
  }
  if (out.nightly) out.budget_s = out.nightly->budget_s;
  if (const auto table = root.table("containment")) out.containment = read_stated_limits(*table);
  if (const auto table = root.table("validate")) {
    out.validate_points = table->integer_or("points", 0, 1000, out.validate_points);
    out.validate_budget_s = table->number_or("budget_s", 1, 1e6, out.validate_budget_s);
    out.validate_turn_s = table->number_or("turn_s", 0.001, 60, out.validate_turn_s);
  }
}

}  // namespace

void read_measure(const TomlTable& table, MeasureSettings& out) {
  out.limits = read_limits(table);
  out.rounds = as_int(table.integer_or("rounds", 1, 99, out.rounds));
  out.sample_budget_s = table.number_or("sample_budget_s", 0.001, 60, out.sample_budget_s);
  out.samples_min = table.integer_or("samples_min", 3, 4096, out.samples_min);
  out.wall_cap_s = table.number_or("wall_cap_s", 0.1, 600, out.wall_cap_s);
  out.warmup_cap_s = table.number_or("warmup_cap_s", 0, 60, out.warmup_cap_s);
  out.repeat_budget_s = table.number_or("repeat_budget_s", 0, 1e6, out.repeat_budget_s);
  out.in_stack = table.boolean_or("in_stack", out.in_stack);
}

Sweep read_sweep_table(const TomlTable& root, std::string_view where) {
  if (root.has("kernel")) {
    throw refused("a sweep of kernels has no model", root.where("kernel"),
                  "halmark tune measures and compares it");
  }
  Sweep out;
  out.file = std::string(where);
  out.name = root.string("name");
  out.model = root.string("model");
  out.model_where = root.where("model");
  out.backend = root.string_or("backend", out.backend);
  out.device = root.string_or("device", out.device);
  out.served = read_served_sweep(root);
  out.serving_devices = read_serving_devices(root);
  read_sources(root, out);
  out.precisions = read_precision_names(root, "dtypes");
  out.precision_choices = read_precision_choices(root);
  out.fused_qkv = root.boolean_or("fused_qkv", out.fused_qkv);
  out.strategies =
      root.has("strategies") ? root.choices("strategies", strategies) : default_strategies;
  read_stages(root, out);
  if (root.has("shards")) out.shards = root.integers("shards", 1, 4096);
  if (root.has("routing_skew")) {
    out.routing_skew = root.integer("routing_skew", 0, 1000);
    out.routing_skew_where = root.where("routing_skew");
  }
  if (root.has("sampler")) {
    out.sampler = root.string("sampler");
    out.sampler_where = root.where("sampler");
  }
  read_shards_on(root, out);
  out.trials = root.integer_or("trials", 0, 10'000'000, out.trials);
  out.seed = as_uint64(root.integer_or("seed", 0, INT64_MAX, 1));
  out.budget_s = root.number_or("budget_s", 1, 1e6, out.budget_s);
  read_steps(root, out);
  read_measuring(root, out);
  read_regret(root, out);
  root.finish();
  if (out.workloads.empty() && !out.served) {
    throw refused("no [[workload]] is given", std::string(where),
                  "add one with phase, batch and context, or a [request]");
  }
  return out;
}

std::vector<int> parse_stages(const std::string& text, const std::string& where) {
  std::vector<int> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int layers = 0;
    const auto [next, error] = std::from_chars(at, end, layers);
    const bool goes_on = next < end && *next == ',' && next + 1 < end;
    if (error != std::errc() || layers < 1 || (next != end && !goes_on)) {
      out.clear();
      break;
    }
    out.push_back(layers);
    at = next == end ? end : next + 1;
  }
  if (!out.empty()) return out;
  throw refused("stages '" + printable(text) + "' are no layers per stage", where,
                "as 10,18: each stage's number of layers, first to last");
}

void MeasureSettings::take(const MeasureLimits& of_machine) {
  limits = first_of(limits, of_machine);
  if (limits.rounds) rounds = as_int(*limits.rounds);
}

Sweep read_sweep(const std::string& path) {
  return read_sweep_table(TomlTable::parse_file(path, "sweep"), input_name(path));
}

Sweep parse_sweep(std::string_view text, std::string_view where) {
  return read_sweep_table(TomlTable::parse(text, where), where);
}

void put_shards_on(const std::string& text, const std::string& where, Sweep& sweep) {
  if (!sweep.shards.empty() || sweep.served || !sweep.latency.empty() || sweep.nightly) {
    throw refused("shards on named devices are of measured sweeps that state no shards", where,
                  "leave out shards, [request], latency and [nightly]");
  }
  sweep.shards_on = {parse_shard_places(text, where)};
  sweep.shards_on_where = where;
  sweep.backend = sweep.shards_on.front().front().backend;
  sweep.device = sweep.shards_on.front().front().device;
}

std::vector<ShardPlace> places_of(const Sweep& sweep) {
  std::vector<ShardPlace> out;
  for (const auto& places : sweep.shards_on) append_all(out, places);
  return out;
}

std::vector<Precision> precisions_of(const Sweep& sweep, const SweepWorkload& workload,
                                     const PrecisionFacts& facts) {
  return precisions_of(workload.precisions.empty() ? sweep.precisions : workload.precisions,
                       sweep.precision_choices, facts);
}

std::vector<Precision> precisions_of(const Sweep& sweep, const PrecisionFacts& facts) {
  return precisions_of(sweep.precisions, sweep.precision_choices, facts);
}

}  // namespace halmark
