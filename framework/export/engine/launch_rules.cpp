#include "export/engine/launch_rules.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/text.hpp"

namespace halmark::exports {
namespace {

bool is_wide(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::f16 || dtype == Dtype::f32;
}

std::string dtype_word(Dtype dtype) {
  if (dtype == Dtype::bf16) return "bfloat16";
  return dtype == Dtype::f16 ? "float16" : "float32";
}

// Kinds of linears that the model has, the head apart.
std::vector<KernelKind> linears_of(const Deployment& d) {
  std::vector<KernelKind> out{KernelKind::qkv, KernelKind::output, KernelKind::ffn};
  if (d.is_moe) out.push_back(KernelKind::experts);
  return out;
}

bool all_linears(const Deployment& d, const Precision& p, Dtype dtype) {
  return std::ranges::all_of(linears_of(d), [&](KernelKind k) { return p.of(k) == dtype; });
}

bool is_as_stored(const Deployment& d, const Precision& p) {
  if (!d.stored) return false;
  std::vector<KernelKind> kinds = linears_of(d);
  kinds.push_back(KernelKind::head);
  return std::ranges::all_of(kinds, [&](KernelKind k) { return p.of(k) == d.stored->of(k); });
}

// What the checkpoint does not store, an engine can at most quantise while it loads.
void choose_quantization(const Deployment& d, const EngineTable& table, PrecisionWords& out) {
  const Precision& p = d.configuration().precision;
  const bool is_plain = all_linears(d, p, p.activation);
  if (is_as_stored(d, p)) {
    out.why_quantization = "weights as the checkpoint stores them";
    return;
  }
  if (d.is_checkpoint_named) {
    out.why_quantization = is_plain ? "" : "linears of " + p.name + " are the named checkpoint's";
    return;
  }
  if (is_plain && !d.stored && p.head == p.activation) return;
  if (is_plain) {
    throw cannot(table, d,
                 "the checkpoint stores narrower weights than " + p.name +
                     "; name one in 16 bits: --checkpoint NAME");
  }
  const bool is_fp8 = all_linears(d, p, Dtype::f8_e4m3fn) && p.head == p.activation &&
                      p.packed == PackedWeights::as_stated;
  if (is_fp8 && !d.stored && table.allows("--quantization", "fp8")) {
    out.quantization = "fp8";
    out.why_quantization = "linears in f8_e4m3fn, quantised while loading: scales are the engine's";
    return;
  }
  if (!table.has("--quantization")) {
    throw cannot(table, d,
                 "it takes types of weights from the checkpoint, and " + d.checkpoint +
                     " does not store " + p.name + ": --checkpoint NAME");
  }
  throw cannot(table, d,
               "it quantises to fp8 at most while it loads, and the point is " + p.name +
                   "; name a checkpoint that stores it: --checkpoint NAME");
}

void choose_cache(const Deployment& d, const EngineTable& table, PrecisionWords& out) {
  const Precision& p = d.configuration().precision;
  if (p.kv_cache == p.activation) {
    out.kv_cache = "auto";
    out.why_kv_cache = "keys and values in the type of the activations";
    return;
  }
  const std::string word = p.kv_cache == Dtype::f8_e4m3fn ? "fp8_e4m3"
                           : p.kv_cache == Dtype::f8_e5m2 ? "fp8_e5m2"
                                                          : "";
  if (word.empty()) {
    throw cannot(table, d,
                 "it keeps keys and values in 16 bits or in fp8, not in " +
                     std::string(dtype_name(p.kv_cache)));
  }
  out.kv_cache = word;
  out.why_kv_cache = "kv_cache of the point";
}

}  // namespace

Error cannot(const EngineTable& table, const Deployment& deployment, const std::string& why) {
  return refused(table.name() + " cannot run this point: " + why, deployment.configuration().key(),
                 "choose another with --point, or another engine");
}

void require_even_experts(const EngineTable& table, const Deployment& d) {
  const Parallel& p = d.configuration().parallel;
  if (p.tp % p.ep == 0) return;
  throw cannot(table, d,
               "ep" + std::to_string(p.ep) + " does not divide tp" + std::to_string(p.tp));
}

void refuse_for_all(const EngineTable& table, const Deployment& d) {
  const Configuration& c = d.configuration();
  if (c.parallel.cp > 1) {
    throw cannot(table, d,
                 "context parallelism of " + std::to_string(c.parallel.cp) +
                     " has no flag with the same meaning");
  }
  if (!c.parallel.stages.empty()) {
    throw cannot(table, d, "layers per stage that are stated have no flag with the same meaning");
  }
  if (c.workload.phase == Phase::training && !c.served) {
    throw cannot(table, d, "a training step is not served");
  }
  if (c.served && c.served->mode == ServingMode::disaggregated) {
    throw cannot(table, d,
                 "prompts and tokens on servers of their own need a router between them, which is "
                 "not a flag of the engine");
  }
  const auto may_use = as_int64(d.memory_fraction * as_double(d.device_bytes));
  if (d.device_bytes > 0 && d.rank.total() > may_use) {
    throw cannot(table, d,
                 "a rank needs " + gib_text(d.rank.total()) + " of the " + gib_text(may_use) +
                     " that it may use");
  }
}

LaunchWriter::LaunchWriter(const Deployment& deployment, const EngineTable& table)
    : launch{.engine = table.engine,
             .version = table.version,
             .source = table.source,
             .is_verified = table.is_verified,
             .command = table.command},
      deployment_(deployment),
      table_(table) {}

void LaunchWriter::add(const std::string& name, const std::string& value, const std::string& why) {
  launch.flags.push_back({name, value, why});
}

void LaunchWriter::flag(const std::string& name, const std::string& value, const std::string& why) {
  if (!table_.has(name)) throw cannot(table_, deployment_, "it has no " + name);
  if (!table_.allows(name, value)) {
    throw cannot(table_, deployment_, name + " does not take '" + value + "'");
  }
  add(name, value, why);
}

void LaunchWriter::flag(const std::string& name, std::int64_t value, const std::string& why) {
  flag(name, std::to_string(value), why);
}

void LaunchWriter::flag(const std::string& name, double value, const std::string& why) {
  flag(name, number_text(value), why);
}

void LaunchWriter::on(const std::string& name, const std::string& why) {
  const auto it = table_.flags.find(name);
  if (it == table_.flags.end() || it->second.type != EngineFlag::Type::boolean) {
    throw cannot(table_, deployment_, "it has no switch " + name);
  }
  add(name, "", why);
}

void LaunchWriter::off(const std::string& name, const std::string& why) {
  const auto it = table_.flags.find(name);
  if (it == table_.flags.end() || !it->second.has_no) {
    throw cannot(table_, deployment_, "it has no switch " + name + " that can be turned off");
  }
  add("--no-" + name.substr(2), "", why);
}

void LaunchWriter::precision(const PrecisionWords& words) {
  flag("--dtype", words.dtype, "activations and what is not quantised");
  if (!words.quantization.empty()) {
    flag("--quantization", words.quantization, words.why_quantization);
  } else if (!words.why_quantization.empty()) {
    note(words.why_quantization);
  }
  flag("--kv-cache-dtype", words.kv_cache, words.why_kv_cache);
}

PrecisionWords precision_words(const Deployment& d, const EngineTable& table) {
  const Precision& p = d.configuration().precision;
  if (!is_wide(p.activation)) {
    throw cannot(table, d, "activations of " + std::string(dtype_name(p.activation)));
  }
  if (p.attention != p.activation) {
    throw cannot(
        table, d,
        "attention in " + std::string(dtype_name(p.attention)) + " has no flag of its own");
  }
  PrecisionWords out{.dtype = dtype_word(p.activation)};
  choose_quantization(d, table, out);
  choose_cache(d, table, out);
  return out;
}

std::string why_no_more(const Deployment& d) {
  if (d.levels.empty()) return {};
  std::string out = std::to_string(admission_of(d.configuration()).sequences) +
                    " in flight over dp" + std::to_string(d.configuration().parallel.dp) + " keep ";
  for (const ServiceLevel& level : d.levels) {
    out += (&level == &d.levels.front() ? "" : " and ") + level_text(level);
  }
  return out + "; the limit is an engine's";
}

std::string why_no_longer(const Deployment& d) {
  if (!d.room_tokens) return {};
  return "memory holds no longer sequence; the model's end at " +
         std::to_string(d.model_tokens.value_or(0));
}

std::int64_t share_of(std::int64_t sequences, std::int64_t parts) {
  return std::max<std::int64_t>(1, (sequences + parts - 1) / parts);
}

double rounded_down(double fraction) { return std::floor(fraction * 1000 + 1e-9) / 1000; }

std::string gib_text(std::int64_t bytes) {
  return number_text(as_double(bytes) / (1024.0 * 1024 * 1024), 4) + " GiB";
}

}  // namespace halmark::exports
