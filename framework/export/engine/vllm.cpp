// vllm serve. Its expert parallelism is a switch over all tp x dp ranks of a server; without it the
// experts of a mixture form one tensor-parallel group over them, which is not what dp replicas are.

#include "export/engine/launch_rules.hpp"

namespace halmark::exports {
namespace {

// That an engine takes at a time where nothing is stated, by device; a step has to hold them.
constexpr std::int64_t least_sequences = 256, most_sequences = 1024;

struct Layout {
  int servers = 1, dp = 1;  // dp: of one server
  bool spreads_experts = false;
};

Layout layout_of(const Deployment& d, const EngineTable& table) {
  const Parallel& p = d.configuration().parallel;
  if (!d.is_moe) return {.dp = p.dp};
  if (p.ep == 1) return {.servers = p.dp};
  if (p.ep % p.tp != 0 || p.dp % (p.ep / p.tp) != 0) {
    throw cannot(table, d,
                 "it spreads experts over all tp x dp ranks of a server, and ep" +
                     std::to_string(p.ep) + " is no multiple of tp" + std::to_string(p.tp));
  }
  const int dp = p.ep / p.tp;
  return {.servers = p.dp / dp, .dp = dp, .spreads_experts = true};
}

void add_layout(const Parallel& p, const Layout& layout, LaunchWriter& out) {
  out.flag("--tensor-parallel-size", std::int64_t{p.tp}, "tp" + std::to_string(p.tp));
  if (p.pp > 1) {
    out.flag("--pipeline-parallel-size", std::int64_t{p.pp}, "pp" + std::to_string(p.pp));
  }
  if (layout.dp > 1) {
    out.flag("--data-parallel-size", std::int64_t{layout.dp},
             "dp" + std::to_string(p.dp) + " in " + std::to_string(layout.servers) + " server(s)");
  }
  if (layout.spreads_experts) {
    out.on("--enable-expert-parallel",
           "ep" + std::to_string(p.ep) + " = tp x dp of a server: experts on all of its ranks");
  }
  out.launch.servers = layout.servers;
  out.launch.group_devices = p.tp;
  out.launch.devices_per_server = p.tp * p.pp * layout.dp;
}

void add_admission(const Deployment& d, const EngineTable& table, LaunchWriter& out) {
  const Admission a = admission_of(d.configuration());
  const std::int64_t per_engine = share_of(a.sequences, d.configuration().parallel.dp);
  if (a.tokens_per_step < per_engine) {
    throw cannot(table, d,
                 "a step of " + std::to_string(a.tokens_per_step) + " tokens is smaller than the " +
                     std::to_string(per_engine) + " sequences of an engine");
  }
  if (d.room_tokens) out.flag("--max-model-len", *d.room_tokens, why_no_longer(d));
  const std::string why = why_no_more(d);
  if (!why.empty()) {
    out.flag("--max-num-seqs", per_engine, why);
  } else if (per_engine > least_sequences || a.tokens_per_step < most_sequences) {
    out.flag("--max-num-seqs", per_engine,
             std::to_string(a.sequences) + " in flight over dp" +
                 std::to_string(d.configuration().parallel.dp) +
                 "; by itself an engine takes 256 or 1024, as the device is");
  }
  out.flag("--max-num-batched-tokens", a.tokens_per_step, "tokens that one step computes at most");
  out.on("--enable-chunked-prefill", "steps mix prompts and tokens, as priced");
}

}  // namespace

Launch vllm_launch(const Deployment& d, const EngineTable& table) {
  const Layout layout = layout_of(d, table);
  const PrecisionWords words = precision_words(d, table);
  LaunchWriter out(d, table);
  out.launch.command.push_back(d.checkpoint);
  // Its data-parallel ranks meet in another way than the nodes of one engine.
  if (table.has("--nnodes") && layout.dp == 1) {
    out.launch.span = {{"--nnodes", "--node-rank", "--master-addr", "--headless", 0}};
  }
  add_layout(d.configuration().parallel, layout, out);
  out.precision(words);
  add_admission(d, table, out);
  if (d.device_bytes > 0) {
    out.flag("--gpu-memory-utilization", rounded_down(d.memory_fraction),
             "of all memory: a rank needs " + gib_text(d.rank.total()) + " of " +
                 gib_text(d.device_bytes));
  }
  return std::move(out.launch);
}

}  // namespace halmark::exports
