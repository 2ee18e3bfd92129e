// trtllm-serve: underscores, no data parallelism beside that of attention, and a YAML file for what
// has no flag. Its fraction of memory is of what is free once the weights are there.
#include "core/numeric/cast.hpp"
#include "export/engine/launch_rules.hpp"

namespace halmark::exports {
namespace {

constexpr const char* options_name = "options.yaml";

struct Layout {
  int servers = 1, tp = 1, ep = 1;
  bool has_attention_dp = false;
};

Layout layout_of(const Deployment& d, const EngineTable& table) {
  const Parallel& p = d.configuration().parallel;
  if (p.ep <= p.tp) {
    require_even_experts(table, d);
    return {.servers = p.dp, .tp = p.tp, .ep = p.ep};
  }
  if (p.tp != 1 || p.dp % p.ep != 0) {
    throw cannot(table, d,
                 "its data-parallel attention has one rank per replica, and the point has "
                 "tp" +
                     std::to_string(p.tp) + " with ep" + std::to_string(p.ep));
  }
  return {.servers = p.dp / p.ep, .tp = p.ep, .ep = p.ep, .has_attention_dp = true};
}

void add_options(const Deployment& d, const EngineTable& table, const Layout& layout,
                 const PrecisionWords& words, LaunchWriter& out) {
  std::string text = "# what trtllm-serve takes from a file alone\n";
  const auto key = [&](const std::string& name) {
    if (!table.has_option(name)) throw cannot(table, d, "its file has no " + name);
  };
  if (layout.has_attention_dp) {
    key("enable_attention_dp");
    text +=
        "enable_attention_dp: true  # dp" + std::to_string(d.configuration().parallel.dp) + '\n';
  }
  key("enable_chunked_prefill");
  text += "enable_chunked_prefill: true  # steps mix prompts and tokens, as priced\n";
  if (words.kv_cache != "auto") {
    key("kv_cache_config.dtype");
    if (words.kv_cache == "fp8_e5m2") throw cannot(table, d, "its fp8 cache is e4m3");
    text += "kv_cache_config:\n  dtype: fp8  # " + words.why_kv_cache + '\n';
  }
  out.launch.options_name = options_name;
  out.launch.options = text;
  out.flag("--extra_llm_api_options", options_name, "the file beside this one");
}

void add_memory(const Deployment& d, LaunchWriter& out) {
  if (d.device_bytes <= 0) return;
  const double total = as_double(d.device_bytes);
  const double weights = as_double(d.rank.weights);
  const double for_cache = total * d.memory_fraction - weights - as_double(d.rank.activations);
  out.flag("--kv_cache_free_gpu_memory_fraction", rounded_down(for_cache / (total - weights)),
           "of what is free beside " + gib_text(d.rank.weights) + " of weights: the point needs " +
               gib_text(d.rank.cache) + " of cache");
}

}  // namespace

Launch trtllm_launch(const Deployment& d, const EngineTable& table) {
  const Layout layout = layout_of(d, table);
  const PrecisionWords words = precision_words(d, table);
  const Parallel& p = d.configuration().parallel;
  const Admission a = admission_of(d.configuration());
  LaunchWriter out(d, table);
  out.launch.command.push_back(d.checkpoint);
  out.launch.servers = layout.servers;
  out.launch.group_devices = layout.tp;
  out.launch.devices_per_server = layout.tp * p.pp;
  out.flag("--backend", "pytorch", "the one that loads checkpoints as they are");
  out.flag("--tp_size", std::int64_t{layout.tp},
           layout.has_attention_dp ? "ranks of dp" + std::to_string(p.dp) + " attention"
                                   : "tp" + std::to_string(p.tp));
  if (p.pp > 1) out.flag("--pp_size", std::int64_t{p.pp}, "pp" + std::to_string(p.pp));
  if (layout.ep > 1) out.flag("--ep_size", std::int64_t{layout.ep}, "ep" + std::to_string(p.ep));
  if (const std::string why = why_no_more(d); !why.empty()) {
    out.flag("--max_batch_size", share_of(a.sequences, p.dp), why);
  }
  out.flag("--max_num_tokens", a.tokens_per_step, "tokens that one step computes at most");
  if (d.room_tokens) out.flag("--max_seq_len", *d.room_tokens, why_no_longer(d));
  add_memory(d, out);
  add_options(d, table, layout, words, out);
  if (!words.why_quantization.empty()) out.note(words.why_quantization);
  return std::move(out.launch);
}

}  // namespace halmark::exports
