// A proof that leaves a point of its space out is consistent with itself; it is not with the plan
// that its run was begun with.
#include "verify/front_proof/front_proof_plan.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"

namespace halmark::front_proof {
namespace {

struct KnownObjective {
  std::string_view name, unit;
  bool is_maximised;
};
// Those that a formula of kernel times exists for; others are reported, not proved.
constexpr KnownObjective known_objectives[] = {
    {"latency", "ns", false}, {"throughput", "tokens/s", true}, {"memory", "bytes", false}};

bool operator==(const Domain& a, const Domain& b) {
  return a.name == b.name && a.values == b.values;
}
bool operator==(const ConstraintText& a, const ConstraintText& b) {
  return a.name == b.name && a.expression == b.expression;
}

constexpr std::int64_t size_max = 1 << 30;

std::int64_t size_of(const std::string& text, std::size_t line) {
  std::int64_t out = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool is_whole = end.ec == std::errc() && end.ptr == text.data() + text.size();
  if (is_whole && out >= 1 && out <= size_max) return out;
  throw Broken(line, "'" + text + "' is no size of this domain");
}

Dtype type_of(const std::string& text, std::size_t line) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  throw Broken(line, "'" + text + "' is no data type");
}

bool is_packed_recipe(const std::string& recipe) {
  return recipe == "w4a16" || recipe == "f4_e2m1" || parse_packed_weights(recipe).has_value();
}

// What a checkpoint's own statement is called; bf16 where it states no weights.
std::string stated_name(const ModelSpec& spec) {
  if (!spec.named_precision.empty()) return spec.named_precision;
  if (!spec.quantization || spec.quantization->kinds.empty()) {
    return spec.stored_dtype == Dtype::f32 ? "f32" : "bf16";
  }
  const Quantization& q = *spec.quantization;
  if (q.weights == Dtype::s8 || q.weights == Dtype::f8_e4m3fn) {
    if (!q.quantizes_inputs) return "w8a16";
    return q.weights == Dtype::s8 ? "int8" : "fp8";
  }
  return q.format == PackedWeights::as_stated ? "w4a16"
                                              : std::string(packed_weights_name(q.format));
}

// The type of a recipe's linears where the checkpoint states none of that kind.
Dtype linear_type(const std::string& recipe, std::size_t line) {
  if (recipe == "w4a16" || recipe == "awq" || recipe == "gptq") return Dtype::s4;
  if (is_packed_recipe(recipe)) return Dtype::f4_e2m1;
  if (recipe == "w8a16") return Dtype::s8;
  if (const auto dtype = parse_dtype(recipe)) return *dtype;
  throw Broken(line, "'" + recipe + "' is no precision that is known here");
}

// Whether what the checkpoint stores is what the recipe asks for.
bool asks_for_stored(const std::string& recipe, Dtype linear, const ModelSpec& spec) {
  if (!spec.quantization || spec.quantization->kinds.empty()) return false;
  const Quantization& q = *spec.quantization;
  const bool is_eight = q.weights == Dtype::s8 || q.weights == Dtype::f8_e4m3fn;
  if (const auto format = parse_packed_weights(recipe)) return !is_eight && q.format == *format;
  if (is_packed_recipe(recipe)) return !is_eight;
  if (recipe == "w8a16") return is_eight;
  return q.weights == linear && q.quantizes_inputs;
}

// What a recipe means: f32, bf16 and f16 are of everything; narrower ones are of the linears that
// the checkpoint stores so, else of all (4-bit floats: of the networks alone where they have
// experts), int8 then of the head too. The checkpoint's cache is theirs, else nvfp4 has 8 bits.
Precision recipe_meaning(const std::string& recipe, const ModelSpec& spec, bool has_bf16,
                         std::size_t line) {
  const Dtype linear = linear_type(recipe, line);
  if (linear == Dtype::f32 || linear == Dtype::bf16 || linear == Dtype::f16) {
    return Precision::uniform(std::string(dtype_name(linear)), linear);
  }
  Precision out = Precision::uniform(recipe, has_bf16 ? Dtype::bf16 : Dtype::f32);
  if (asks_for_stored(recipe, linear, spec)) {
    for (const KernelKind kind : spec.quantization->kinds)
      out.set(kind, spec.quantization->weights);
  } else if (linear == Dtype::f4_e2m1 && spec.moe) {
    out.ffn = out.experts = linear;
  } else {
    out.set_linears(linear);
    if (linear == Dtype::s8 && recipe != "w8a16") out.head = linear;
  }
  if (recipe == "nvfp4" && !asks_for_stored(recipe, linear, spec)) out.kv_cache = Dtype::f8_e4m3fn;
  if (spec.quantization) out.kv_cache = spec.quantization->kv_cache.value_or(out.kv_cache);
  out.packed = parse_packed_weights(recipe).value_or(PackedWeights::as_stated);
  if (recipe == "w4a16" || recipe == "w8a16") out.packed = PackedWeights::weights_only;
  // Names are those of rows and reasons: the recipe's, whatever spelling a sweep has.
  if (linear == Dtype::s8 && recipe != "w8a16") out.name = "int8";
  if (linear == Dtype::f8_e4m3fn) out.name = "fp8";
  return out;
}

// One kind in another type; the name says so.
void set_apart(Precision& precision, const std::string& name, Dtype dtype, std::size_t line) {
  const auto kind = parse_kernel_kind(name);
  if (!kind) throw Broken(line, "'" + name + "' is no kind of kernel");
  if (precision.of(*kind) == dtype) return;
  precision.set(*kind, dtype);
  precision.name += '+' + name + '=' + std::string(dtype_name(dtype));
}

// A name of `dtypes`: a recipe, and what is set apart from it, "fp8+kv_cache=fp8".
Precision meaning_of(const std::string& name, const ModelSpec& spec, bool has_bf16,
                     std::size_t line) {
  std::size_t at = name.find('+');
  std::string recipe = name.substr(0, at);
  if (parse_dtype(recipe) == Dtype::s4) recipe = "w4a16";
  const bool is_stated = recipe == "checkpoint";
  Precision out = recipe_meaning(is_stated ? stated_name(spec) : recipe, spec, has_bf16, line);
  const bool sets_cache = name.find("+kv_cache=") != std::string::npos;
  if (is_stated && !sets_cache && spec.quantization && spec.quantization->kv_cache) {
    set_apart(out, "kv_cache", *spec.quantization->kv_cache, line);
  }
  while (at != std::string::npos) {
    const std::size_t end = name.find('+', at + 1);
    const std::string one = name.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) throw Broken(line, "'" + one + "' is no kind=dtype");
    set_apart(out, one.substr(0, equals), type_of(one.substr(equals + 1), line), line);
    at = end;
  }
  return out;
}

void set_size(Configuration& c, const std::string& name, std::int64_t value, std::size_t line) {
  const auto degree = as_int(value);
  if (name == "batch") {
    c.workload.batch = value;
  } else if (name == "context") {
    c.workload.context = value;
  } else if (name == "new_tokens") {
    c.workload.new_tokens = value;
  } else if (name == "dp") {
    c.parallel.dp = degree;
  } else if (name == "tp") {
    c.parallel.tp = degree;
  } else if (name == "pp") {
    c.parallel.pp = degree;
  } else if (name == "ep") {
    c.parallel.ep = degree;
  } else if (name == "cp") {
    c.parallel.cp = degree;
  } else {
    throw Broken(line, "domain '" + name + "' says nothing of a configuration that is known here");
  }
}

}  // namespace

StatedPlan::StatedPlan(const Proof& proof) : proof_(proof) {
  const PlanRecord& stated = *proof.plan;
  if (sha256_of(stated.text) != proof.plan_hash) {
    throw Broken(stated.line, "the plan is not the one whose hash the header has");
  }
  try {
    read(parse_json(stated.text, "plan"));
  } catch (const Broken&) {
    throw;
  } catch (const std::exception& e) {
    throw Broken(stated.line, std::string("the plan cannot be read: ") + e.what());
  }
}

void StatedPlan::read(const Json& plan) {
  model_ = plan.at("model").get<std::string>();
  backend_ = plan.at("backend").get<std::string>();
  routing_skew_ = plan.value("routing_skew", std::int64_t{0});
  objectives_ = plan.at("objectives").get<std::vector<std::string>>();
  for (const Json& text : plan.at("left_out")) left_out_.insert(text.get<std::string>());
  const Json& kernels = plan.at("kernels");
  is_whole_ = kernels.at("of") == "everything";
  kernels_sha256_ = kernels.at("sha256").get<std::string>();
  kernel_count_ = kernels.at("count").get<std::size_t>();
  domains_.push_back({"phase", {}});
  for (const Json& problem : plan.at("problems")) add_problem(problem);
  // What a proof states beside the plan's rules, and this checker shows.
  constraints_.push_back({"of_another_phase", ""});
  constraints_.push_back({"impossible_or_out_of_memory", ""});
}

void StatedPlan::add_problem(const Json& problem) {
  const auto name = problem.at("name").get<std::string>();
  domains_.front().values.push_back(name);
  fronts_.push_back(name);
  auto& own = problems_.emplace_back();
  for (const Json& parameter : problem.at("parameters")) {
    const auto domain = parameter.at("name").get<std::string>();
    const auto values = parameter.at("values").get<Values>();
    own[domain] = values;
    const auto known = std::ranges::find(domains_, domain, &Domain::name);
    if (known == domains_.end()) {
      domains_.push_back({domain, values});
      continue;
    }
    for (const std::string& v : values) {
      const bool is_new = std::ranges::find(known->values, v) == known->values.end();
      if (is_new) known->values.push_back(v);
    }
  }
  for (const Json& c : problem.at("constraints")) {
    constraints_.push_back(
        {c.at("name").get<std::string>(),
         "phase != \"" + name + "\" or (" + c.at("expression").get<std::string>() + ")"});
  }
}

void StatedPlan::check_space() const {
  const auto require = [this](bool holds, std::size_t line, const char* what) {
    if (!holds) throw Broken(line, std::string(what) + " not those of the plan");
  };
  require(std::ranges::equal(domains_, proof_.domains,
                             [](const Domain& a, const Domain& b) { return a == b; }),
          proof_.space_line, "the domains are");
  require(
      std::ranges::equal(constraints_, proof_.constraints,
                         [](const ConstraintText& a, const ConstraintText& b) { return a == b; }),
      proof_.space_line, "the constraints are");
  require(fronts_ == proof_.fronts, 1, "the fronts are");
  require(backend_ == proof_.target->backend, proof_.target->line, "backend and device are");
  require(model_ == proof_.model->id, proof_.model->line, "name and dimensions of the model are");
  check_objectives();
}

void StatedPlan::check_objectives() const {
  std::size_t j = 0;
  std::int64_t latency = -1;
  for (const std::string& name : objectives_) {
    const auto known = std::ranges::find(known_objectives, name, &KnownObjective::name);
    if (known == std::end(known_objectives)) continue;
    const bool is_next = j < proof_.objectives.size() && proof_.objectives[j].name == name &&
                         proof_.objectives[j].unit == known->unit &&
                         proof_.objectives[j].is_maximised == known->is_maximised;
    if (!is_next) throw Broken(1, "the objectives are not those of the plan");
    if (name == "latency") latency = as_int64(j);
    ++j;
  }
  if (j != proof_.objectives.size()) throw Broken(1, "the objectives are not those of the plan");
  if (proof_.run_objective != latency) {
    throw Broken(1, "runs are said to be of another objective than latency");
  }
}

bool StatedPlan::is_of_a_problem(const std::vector<std::size_t>& levels) const {
  const auto& own = problems_[levels[0]];
  for (std::size_t d = 1; d < domains_.size(); ++d) {
    const auto* at = find_value(own, domains_[d].name);
    if (!at) {
      if (levels[d] != 0) return false;
      continue;
    }
    const std::string& value = domains_[d].values[levels[d]];
    if (std::ranges::find(*at, value) == at->end()) return false;
  }
  return true;
}

Configuration StatedPlan::configuration(const std::vector<std::size_t>& levels,
                                        const ModelSpec& spec, bool has_bf16) const {
  const std::size_t line = proof_.space_line;
  const auto phase = parse_phase(fronts_[levels[0]]);
  if (!phase) throw Broken(line, "'" + fronts_[levels[0]] + "' is no phase");
  Configuration out;
  out.model = model_;
  out.workload.phase = *phase;
  out.workload.new_tokens = 1;
  out.workload.routing_skew = routing_skew_;
  const auto& own = problems_[levels[0]];
  for (std::size_t d = 1; d < domains_.size(); ++d) {
    const std::string& name = domains_[d].name;
    if (!own.contains(name)) continue;
    const std::string& value = domains_[d].values[levels[d]];
    if (name == "precision") {
      out.precision = meaning_of(value, spec, has_bf16, line);
    } else if (parse_kernel_kind(name)) {
      set_apart(out.precision, name, type_of(value, line), line);
    } else {
      set_size(out, name, size_of(value, line), line);
    }
  }
  return out;
}

}  // namespace halmark::front_proof
