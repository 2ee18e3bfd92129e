// sglang.launch_server. With data-parallel attention its tensor-parallel size counts all ranks of
// the server, of which each attention group has a dp-th part.
#include "core/numeric/cast.hpp"
#include "export/engine/launch_rules.hpp"

namespace halmark::exports {
namespace {

struct Layout {
  int tp = 1, dp = 1, ep = 1;
  bool has_dp_attention = false;
  int devices() const { return has_dp_attention ? tp : tp * dp; }
};

Layout layout_of(const Deployment& d, const EngineTable& table) {
  const Parallel& p = d.configuration().parallel;
  if (p.ep <= p.tp) {
    require_even_experts(table, d);
    return {.tp = p.tp, .dp = p.dp, .ep = p.ep};
  }
  if (p.ep != p.tp * p.dp) {
    throw cannot(table, d,
                 "experts beyond one replica lie on all of a server's ranks, and ep" +
                     std::to_string(p.ep) + " is not tp x dp = " + std::to_string(p.tp * p.dp));
  }
  return {.tp = p.tp * p.dp, .dp = p.dp, .ep = p.ep, .has_dp_attention = true};
}

void add_layout(const Parallel& p, const Layout& layout, LaunchWriter& out) {
  out.flag("--tp-size", std::int64_t{layout.tp},
           layout.has_dp_attention ? "all ranks: tp" + std::to_string(p.tp) + " of dp" +
                                         std::to_string(p.dp) + " attention groups"
                                   : "tp" + std::to_string(p.tp));
  if (p.pp > 1) out.flag("--pp-size", std::int64_t{p.pp}, "pp" + std::to_string(p.pp));
  if (layout.dp > 1) out.flag("--dp-size", std::int64_t{layout.dp}, "dp" + std::to_string(p.dp));
  if (layout.has_dp_attention) {
    out.on("--enable-dp-attention", "replicas of attention share the experts");
  }
  if (layout.ep > 1) out.flag("--ep-size", std::int64_t{layout.ep}, "ep" + std::to_string(p.ep));
  out.launch.group_devices = p.tp;
  out.launch.devices_per_server = layout.devices() * p.pp;
}

void add_admission(const Deployment& d, const Layout& layout, LaunchWriter& out) {
  const Admission a = admission_of(d.configuration());
  const bool is_shared = layout.has_dp_attention;
  const std::int64_t parts = is_shared ? 1 : d.configuration().parallel.dp;
  if (d.room_tokens) out.flag("--context-length", *d.room_tokens, why_no_longer(d));
  if (const std::string why = why_no_more(d); !why.empty()) {
    out.flag("--max-running-requests", share_of(a.sequences, parts),
             is_shared ? why + ", which divides it by dp" : why);
  }
  // The release divides the chunk by dp where attention is data-parallel.
  const std::int64_t chunk = a.tokens_per_step * (is_shared ? layout.dp : 1);
  out.flag("--chunked-prefill-size", chunk,
           std::to_string(a.tokens_per_step) + " tokens in one step of a replica" +
               (is_shared ? ", times dp" : ""));
  out.flag("--max-prefill-tokens", chunk, "no step computes more of prompts");
  out.on("--enable-mixed-chunk", "steps mix prompts and tokens, as priced");
}

}  // namespace

Launch sglang_launch(const Deployment& d, const EngineTable& table) {
  const Layout layout = layout_of(d, table);
  const PrecisionWords words = precision_words(d, table);
  constexpr int meeting_port = 5000;
  LaunchWriter out(d, table);
  if (table.has("--nnodes")) {
    out.launch.span = {{"--nnodes", "--node-rank", "--dist-init-addr", "", meeting_port}};
  }
  out.flag("--model-path", d.checkpoint, "the model of the search");
  add_layout(d.configuration().parallel, layout, out);
  out.precision(words);
  add_admission(d, layout, out);
  if (d.device_bytes > 0) {
    const double activations = as_double(d.rank.activations) / as_double(d.device_bytes);
    out.flag("--mem-fraction-static", rounded_down(d.memory_fraction - activations),
             "weights and cache, of all memory: the point needs " +
                 gib_text(d.rank.weights + d.rank.cache) + " of " + gib_text(d.device_bytes));
  }
  return std::move(out.launch);
}

}  // namespace halmark::exports
