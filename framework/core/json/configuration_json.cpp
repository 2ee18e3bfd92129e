// Configurations, estimates and evaluations as JSON. Readers take the rows of every earlier
// version: what a row lacks has the meaning that it had before the field was there.
#include <stdexcept>

#include "core/json/json_fields.hpp"

namespace halmark {

using json_fields::dtype_at;
using json_fields::number;
using json_fields::provenance_at;
using json_fields::status_at;

void to_json(Json& out, const Workload& value) {
  out = Json{{"phase", std::string(phase_name(value.phase))},
             {"batch", value.batch},
             {"new_tokens", value.new_tokens},
             {"context", value.context}};
  if (value.routing_skew != 0) out["routing_skew"] = value.routing_skew;
  if (value.micro_batch != 0) out["micro_batch"] = value.micro_batch;
  if (value.expert_imbalance_ppm != Workload::balanced_ppm) {
    out["expert_imbalance_ppm"] = value.expert_imbalance_ppm;
  }
}

void from_json(const Json& in, Workload& value) {
  const auto phase = parse_phase(in.at("phase").get<std::string>());
  if (!phase) throw std::invalid_argument("unknown phase");
  value = {*phase,
           in.at("batch").get<std::int64_t>(),
           in.at("new_tokens").get<std::int64_t>(),
           in.at("context").get<std::int64_t>(),
           in.value("routing_skew", std::int64_t{0}),
           in.value("micro_batch", std::int64_t{0}),
           in.value("expert_imbalance_ppm", Workload::balanced_ppm)};
}

// What older versions did not have is left out where it has its default.
void to_json(Json& out, const Parallel& value) {
  out = Json{{"tp", value.tp}, {"pp", value.pp}, {"dp", value.dp}, {"ep", value.ep}};
  if (value.cp != 1) out["cp"] = value.cp;
  if (!value.stages.empty()) out["stages"] = value.stages;
}

void from_json(const Json& in, Parallel& value) {
  value = {.dp = in.at("dp").get<int>(),
           .tp = in.at("tp").get<int>(),
           .pp = in.at("pp").get<int>(),
           .ep = in.at("ep").get<int>(),
           .cp = in.value("cp", 1),
           .stages = in.value("stages", std::vector<int>{})};
}

void to_json(Json& out, const LayerGroup& value) {
  out = Json{{"layers", value.layers}, {"dp", value.dp}, {"tp", value.tp}, {"ep", value.ep}};
  if (value.cp != 1) out["cp"] = value.cp;
}

void from_json(const Json& in, LayerGroup& value) {
  value = {.layers = in.at("layers").get<int>(),
           .dp = in.at("dp").get<int>(),
           .tp = in.at("tp").get<int>(),
           .ep = in.at("ep").get<int>(),
           .cp = in.value("cp", 1)};
}

void to_json(Json& out, const Precision& value) {
  out = Json{{"name", value.name}};
  for (const KernelKindRow& row : kernel_kinds) {
    out[std::string(row.name)] = std::string(dtype_name(value.*row.field));
  }
  if (value.packed == PackedWeights::as_stated) return;
  out["packed"] = std::string(packed_weights_name(value.packed));
}

namespace {

// Rows of earlier versions have one type for all linears but the head, and the format of packed
// weights in the name alone.
void read_one_linear_type(const Json& in, Precision& value) {
  value.set_linears(dtype_at(in, "linear"));
  if (value.qkv != Dtype::f4_e2m1) return;
  if (value.name == "mxfp4") value.packed = PackedWeights::mxfp4;
  if (value.name == "nvfp4") value.packed = PackedWeights::nvfp4;
}

}  // namespace

void from_json(const Json& in, Precision& value) {
  value = {.name = in.at("name").get<std::string>()};
  const bool is_old = in.contains("linear");
  if (is_old) read_one_linear_type(in, value);
  for (const KernelKindRow& row : kernel_kinds) {
    if (is_old && row.is_linear && row.kind != KernelKind::head) continue;
    value.*row.field = dtype_at(in, std::string(row.name).c_str());
  }
  if (!in.contains("packed")) return;
  const auto packed = parse_packed_weights(in.at("packed").get<std::string>());
  if (!packed) throw std::invalid_argument("unknown format of packed weights");
  value.packed = *packed;
}

void to_json(Json& out, const ShardPlace& value) { out = value.text(); }

void from_json(const Json& in, ShardPlace& value) {
  const auto place = parse_shard_place(in.get<std::string>());
  if (!place) throw std::invalid_argument("no place of a shard");
  value = *place;
}

void to_json(Json& out, const Configuration& value) {
  out = Json{{"model", value.model},
             {"workload", value.workload},
             {"parallel", value.parallel},
             {"precision", value.precision}};
  if (value.served) out["served"] = *value.served;
  if (!value.groups.empty()) out["groups"] = value.groups;
  if (!value.places.empty()) out["places"] = value.places;
}

void from_json(const Json& in, Configuration& value) {
  value = {.model = in.at("model").get<std::string>(),
           .parallel = in.at("parallel").get<Parallel>(),
           .precision = in.at("precision").get<Precision>(),
           .workload = in.at("workload").get<Workload>()};
  if (in.contains("served")) value.served = in.at("served").get<ServedLoad>();
  if (in.contains("groups")) value.groups = in.at("groups").get<std::vector<LayerGroup>>();
  if (in.contains("places")) value.places = in.at("places").get<std::vector<ShardPlace>>();
}

void to_json(Json& out, const OperatorShare& value) {
  out = Json{{"name", value.name},
             {"layer_type", value.layer_type},
             {"count", value.count},
             {"ns", value.ns},
             {"low_ns", value.low_ns},
             {"high_ns", value.high_ns},
             {"lower_bound_ns", value.lower_bound_ns},
             {"flops", value.flops},
             {"bytes", value.bytes},
             {"bound", value.bound},
             {"provenance", std::string(provenance_name(value.provenance))},
             {"status", std::string(status_name(value.status))},
             {"strategy", value.strategy},
             {"dtype", value.dtype},
             {"implementation", value.implementation}};
  if (!value.origin.empty()) out["origin"] = value.origin;
  if (!value.quarantined.empty()) out["quarantined"] = value.quarantined;
}

void from_json(const Json& in, OperatorShare& value) {
  value.name = in.at("name").get<std::string>();
  value.layer_type = in.at("layer_type").get<std::string>();
  value.count = in.at("count").get<std::int64_t>();
  value.ns = in.at("ns").get<double>();
  value.low_ns = in.at("low_ns").get<double>();
  value.high_ns = in.at("high_ns").get<double>();
  value.lower_bound_ns = in.at("lower_bound_ns").get<double>();
  value.flops = in.at("flops").get<double>();
  value.bytes = in.at("bytes").get<double>();
  value.bound = in.at("bound").get<std::string>();
  value.provenance = provenance_at(in, "provenance");
  value.status = status_at(in, "status");
  value.strategy = in.at("strategy").get<std::string>();
  value.dtype = in.at("dtype").get<std::string>();
  value.implementation = in.at("implementation").get<std::string>();
  value.origin = in.value("origin", "");
  value.quarantined = in.value("quarantined", "");
}

void to_json(Json& out, const StateInterval& value) {
  out = Json{{"bytes_per_s", value.state.bytes_per_s},
             {"step_ns", value.step_ns},
             {"memory_ns", value.memory_ns},
             {"ns", value.ns}};
  if (!value.state.flops_per_s) return;
  out["flops_per_s"] = *value.state.flops_per_s;
  out["compute_ns"] = value.compute_ns;
}

void from_json(const Json& in, StateInterval& value) {
  value = {.state = {.bytes_per_s = in.at("bytes_per_s").get<double>()},
           .step_ns = in.at("step_ns").get<double>(),
           .memory_ns = in.at("memory_ns").get<double>(),
           .ns = in.at("ns").get<Interval>()};
  if (!in.contains("flops_per_s")) return;
  value.state.flops_per_s = in.at("flops_per_s").get<double>();
  value.compute_ns = in.at("compute_ns").get<double>();
}

void to_json(Json& out, const Estimate& e) {
  out = Json{{"step_ns", e.step_ns},
             {"low_ns", e.low_ns},
             {"high_ns", e.high_ns},
             {"lower_bound_ns", e.lower_bound_ns},
             {"tokens_per_s", e.tokens_per_s},
             {"matmul_flops", e.matmul_flops},
             {"memory_bytes_per_rank", e.memory_bytes_per_rank},
             {"memory_bytes_total", e.memory_bytes_total},
             {"mfu", optional_number(e.mfu)},
             {"mfu_reason", e.mfu_reason},
             {"mfu_datasheet", optional_number(e.mfu_datasheet)},
             {"bottleneck", e.bottleneck},
             {"provenance", std::string(provenance_name(e.provenance))},
             {"status", std::string(status_name(e.status))},
             {"reason", e.reason},
             {"operators", e.operators}};
  // Absent where every kernel ran in a loop of its own, as in all rows of earlier versions.
  if (e.in_stack_share > 0) out["in_stack_share"] = e.in_stack_share;
  if (e.run_interval) out["run_interval"] = *e.run_interval;
  if (e.alone) {
    out["alone"] = {
        {"step_ns", e.alone->ns}, {"low_ns", e.alone->low_ns}, {"high_ns", e.alone->high_ns}};
  }
  if (e.energy) {
    out["energy"] = {{"joules", e.energy->joules},
                     {"measured", e.energy->is_measured},
                     {"origin", e.energy->origin}};
  } else if (!e.energy_reason.empty()) {
    out["energy_reason"] = e.energy_reason;
  }
}

void from_json(const Json& in, Estimate& e) {
  e.step_ns = in.at("step_ns").get<double>();
  e.low_ns = in.at("low_ns").get<double>();
  e.high_ns = in.at("high_ns").get<double>();
  e.lower_bound_ns = in.at("lower_bound_ns").get<double>();
  e.tokens_per_s = in.at("tokens_per_s").get<double>();
  e.matmul_flops = in.at("matmul_flops").get<double>();
  e.memory_bytes_per_rank = in.at("memory_bytes_per_rank").get<std::int64_t>();
  e.memory_bytes_total = in.at("memory_bytes_total").get<std::int64_t>();
  e.mfu = number(in, "mfu");
  e.mfu_reason = in.at("mfu_reason").get<std::string>();
  e.mfu_datasheet = number(in, "mfu_datasheet");
  e.bottleneck = in.at("bottleneck").get<std::string>();
  e.provenance = provenance_at(in, "provenance");
  e.status = status_at(in, "status");
  e.reason = in.at("reason").get<std::string>();
  e.operators = in.at("operators").get<std::vector<OperatorShare>>();
  e.in_stack_share = in.value("in_stack_share", 0.0);
  if (in.contains("run_interval")) e.run_interval = in.at("run_interval").get<StateInterval>();
  e.alone.reset();
  if (in.contains("alone")) {
    const Json& alone = in.at("alone");
    e.alone = {alone.at("step_ns").get<double>(), alone.at("low_ns").get<double>(),
               alone.at("high_ns").get<double>()};
  }
  e.energy.reset();
  if (in.contains("energy")) {
    const Json& energy = in.at("energy");
    e.energy = {energy.at("joules").get<double>(), energy.at("measured").get<bool>(),
                energy.at("origin").get<std::string>()};
  }
  e.energy_reason = in.value("energy_reason", "");
}

namespace {

Json standing_json(const std::optional<FrontStanding>& standing) {
  if (!standing) return nullptr;
  return {{"class", std::string(front_class_name(standing->front_class))},
          {"probability", standing->probability}};
}

// Rows of earlier versions have none.
std::optional<FrontStanding> standing_at(const Json& evaluation) {
  const auto it = evaluation.find("standing");
  if (it == evaluation.end() || it->is_null()) return std::nullopt;
  const auto parsed = parse_front_class(it->at("class").get<std::string>());
  if (!parsed) return std::nullopt;
  return FrontStanding{*parsed, it->at("probability").get<double>()};
}

}  // namespace

void to_json(Json& out, const Evaluation& e) {
  out = Json{{"deployment", e.configuration},
             {"status", std::string(status_name(e.status))},
             {"reason", e.reason},
             {"estimate", e.estimate ? Json(*e.estimate) : Json(nullptr)},
             {"measured_ns", optional_number(e.measured_ns)},
             {"measured_interval_ns",
              e.measured_interval_ns ? Json(*e.measured_interval_ns) : Json(nullptr)},
             {"standing", standing_json(e.standing)}};
  if (e.served) out["served"] = *e.served;
}

void from_json(const Json& in, Evaluation& e) {
  e.configuration = in.at("deployment").get<Configuration>();
  e.status = status_at(in, "status");
  e.reason = in.at("reason").get<std::string>();
  e.estimate.reset();
  if (!in.at("estimate").is_null()) e.estimate = in.at("estimate").get<Estimate>();
  e.measured_ns = number(in, "measured_ns");
  e.measured_interval_ns.reset();
  if (!in.at("measured_interval_ns").is_null()) {
    e.measured_interval_ns = in.at("measured_interval_ns").get<Interval>();
  }
  e.standing = standing_at(in);
  e.served.reset();
  if (in.contains("served")) e.served = in.at("served").get<ServedEstimate>();
}

}  // namespace halmark
