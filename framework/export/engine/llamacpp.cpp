// llama-server: one process with one device or CPU set; types of weights are those of its file.

#include "export/engine/launch_rules.hpp"

namespace halmark::exports {
namespace {

// The type of a GGUF file whose products are those of the point.
std::string file_type(const Deployment& d, const EngineTable& table) {
  const Precision& p = d.configuration().precision;
  const auto all = [&](Dtype dtype) {
    return p.qkv == dtype && p.output == dtype && p.ffn == dtype && p.head == dtype &&
           (!d.is_moe || p.experts == dtype);
  };
  if (all(Dtype::bf16)) return "BF16";
  if (all(Dtype::f16)) return "F16";
  if (all(Dtype::f32)) return "F32";
  if (all(Dtype::s8) && p.packed == PackedWeights::as_stated) return "Q8_0";
  throw cannot(table, d, "no type of its files has products of " + p.name);
}

std::string cache_type(const Deployment& d, const EngineTable& table) {
  const Dtype dtype = d.configuration().precision.kv_cache;
  if (dtype == Dtype::bf16) return "bf16";
  if (dtype == Dtype::f16) return "f16";
  if (dtype == Dtype::f32) return "f32";
  if (dtype == Dtype::s8) return "q8_0";
  throw cannot(table, d, "no type of its cache is " + std::string(dtype_name(dtype)));
}

void refuse_split(const Deployment& d, const EngineTable& table) {
  const Parallel& p = d.configuration().parallel;
  if (p.tp > 1) {
    throw cannot(table, d,
                 "tp" + std::to_string(p.tp) +
                     ": its threads share one product, and its split over devices is not "
                     "the priced one with collectives");
  }
  if (p.pp > 1) {
    throw cannot(
        table, d,
        "pp" + std::to_string(p.pp) +
            ": its layers on several devices run one after another, and the point keeps all "
            "stages busy");
  }
  if (p.ep > 1) throw cannot(table, d, "it does not spread experts over ranks");
}

}  // namespace

Launch llamacpp_launch(const Deployment& d, const EngineTable& table) {
  refuse_split(d, table);
  const std::string type = file_type(d, table), cache = cache_type(d, table);
  const Admission a = admission_of(d.configuration());
  const std::int64_t slots = share_of(a.sequences, d.configuration().parallel.dp);
  LaunchWriter out(d, table);
  out.launch.servers = d.configuration().parallel.dp;
  out.flag("--model", d.checkpoint + (d.is_checkpoint_named ? "" : '-' + type + ".gguf"),
           "weights as " + type + (type == "Q8_0" ? ": 8 bits, a scale for every 32 of them" : ""));
  out.flag("--parallel", slots,
           std::to_string(a.sequences) + " in flight over dp" +
               std::to_string(d.configuration().parallel.dp));
  // A slot that is full of its prompt has no room for the token that follows: it refuses it.
  const bool is_prompt =
      !d.configuration().served && d.configuration().workload.phase == Phase::prefill;
  const std::int64_t longest = a.longest + (is_prompt ? 1 : 0);
  out.flag("--ctx-size", slots * longest,
           std::to_string(slots) + " x " + std::to_string(longest) + ": its slots share it");
  const std::int64_t of_step = std::max(a.tokens_per_step, slots);
  // b11434 tries its cache with two tokens at once before it serves, and aborts below that.
  out.flag("--batch-size", std::max<std::int64_t>(of_step, 2),
           of_step < 2 ? "it does not start with fewer" : "tokens of one step");
  out.flag("--ubatch-size", of_step, "computed at once, as priced");
  out.flag("--cache-type-k", cache, "kv_cache of the point");
  out.flag("--cache-type-v", cache, "kv_cache of the point");
  if (cache == "q8_0") out.flag("--flash-attn", "on", "a quantised cache needs it");
  if (!d.device.empty()) out.flag("--n-gpu-layers", std::int64_t{999}, "all layers on the device");
  out.note("a file of type " + type + " has to be made of the checkpoint first (llama-quantize)");
  return std::move(out.launch);
}

}  // namespace halmark::exports
