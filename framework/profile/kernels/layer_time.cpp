#include "profile/kernels/layer_time.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"
#include "roofline/bound.hpp"

namespace halmark {
namespace {

std::vector<std::string> decoder_types(const OperatorGraph& graph) {
  std::vector<std::string> out;
  for (const std::int32_t type : graph.layers) {
    const std::string& name = graph.layer_types[as_size(type)].name;
    if (!contains(out, name)) out.push_back(name);
  }
  return out;
}

std::int32_t type_of(const std::string& name, const OperatorGraph& graph) {
  const auto it = std::ranges::find(graph.layer_types, name, &LayerType::name);
  const std::vector<std::string> known = decoder_types(graph);
  if (it == graph.layer_types.end() || !contains(known, name)) {
    throw refused("unknown layer type '" + printable(name) + "'", "--per-layer-ms",
                  suggestion(name, known));
  }
  return as_int(it - graph.layer_types.begin());
}

double milliseconds(std::string_view text) {
  const auto out = read_number<double>(text);
  if (!out || !(*out >= 1e-7) || *out > 1e9) {
    throw refused("'" + printable(text) + "' is no time; expected milliseconds from 1e-7 to 1e9",
                  "--per-layer-ms");
  }
  return *out;
}

LayerUse use_of(const LayerTime& time, const OperatorGraph& graph,
                const std::optional<Device>& device, ShardShare share) {
  const std::int32_t type = type_of(time.layer_type, graph);
  const Parallel& parallel = graph.configuration.parallel;
  const double micro_batches = as_double(parallel.dp) * as_double(graph.micro_batches());
  LayerUse out{.time = time, .layers = std::ranges::count(graph.layers, type)};
  double model_ns = 0, executed_ns = 0;
  for (const std::int32_t i : graph.layer_types[as_size(type)].operators) {
    const Operator& op = graph.operators[as_size(i)];
    const double whole = op.whole_work.matmul_flops / micro_batches;
    const double local = op.rank_work.matmul_flops;
    out.matmul_flops += whole;
    out.matmul_flops_per_rank += local;
    if (whole <= 0 || !device) continue;
    const auto peak = shard_peak(*device, op.dtype, share);
    if (!peak) {
      out.reason = "no peak for " + std::string(dtype_name(op.dtype)) + " on " + device->id;
      continue;
    }
    model_ns += whole / parallel.tp / graph.configuration.parallel.cp / *peak * 1e9;
    executed_ns += local / *peak * 1e9;
  }
  if (!device) out.reason = "no device named (--device)";
  if (!out.reason.empty()) return out;
  // What one rank executes is provable; the model's products may be fewer.
  roofline::Bound bound;
  bound.add({.amount = executed_ns, .per_s = 1e9, .level = roofline::Level::compute});
  if (const auto why = roofline::quarantine(bound, time.ns)) {
    out.is_quarantined = true;
    out.reason = *why;
    return out;
  }
  out.mfu = model_ns / time.ns;
  out.executed = executed_ns / time.ns;
  return out;
}

}  // namespace

std::vector<LayerUse> layer_uses(const std::vector<LayerTime>& times, const OperatorGraph& graph,
                                 const std::optional<Device>& device, ShardShare share) {
  return mapped(times, [&](const LayerTime& time) { return use_of(time, graph, device, share); });
}

std::vector<LayerTime> parse_layer_ms(std::string_view text, const OperatorGraph& graph) {
  std::vector<LayerTime> out;
  const std::vector<std::string> types = decoder_types(graph);
  if (text.find('=') == std::string_view::npos) {
    if (types.size() == 1) return {{types.front(), milliseconds(text) * 1e6}};
    std::string example = join(types, ",", [](const std::string& type) { return type + "=MS"; });
    throw refused("this model has several types of layers", "--per-layer-ms", "write " + example);
  }
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw refused("'" + printable(item) + "' is no TYPE=MS", "--per-layer-ms");
    }
    const std::string type(item.substr(0, equals));
    (void)type_of(type, graph);
    if (contains(out, type, &LayerTime::layer_type)) {
      throw refused("layer type '" + type + "' has two times", "--per-layer-ms");
    }
    out.push_back({type, milliseconds(item.substr(equals + 1)) * 1e6});
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return out;
}

}  // namespace halmark
