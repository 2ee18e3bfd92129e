// FLOPs of a line are known when those of all its rows are; nothing stands for zero.
#include "profile/comparison/trace_view.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <tuple>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark::trace {
namespace {

bool passes(const TraceLine& line, const TraceFilter& filter) {
  if (filter.stage && line.stage != *filter.stage) return false;
  if (!filter.category.empty() && line.category != filter.category) return false;
  const bool is_all = filter.layers.first == 0 && filter.layers.last == LayerRange{}.last;
  if (line.layer < 0 ? !is_all : !filter.layers.has(line.layer)) return false;
  if (filter.flops_min <= 0) return true;
  return line.flops ? *line.flops >= filter.flops_min : line.is_unexplained;
}

void add_row(TraceLine& line, const OperatorRow& row, const OperatorCost& cost) {
  line.count += row.count;
  line.captured += row.captured;
  line.kernels += row.kernels;
  line.host_ns += row.host_ns;
  line.device_ns += row.device_ns;
  if (!has_formula(row.of)) {
    line.is_unexplained = row.of == OperatorClass::unknown;
    line.flops_reason = line.is_unexplained ? "no formula for this operator" : "no matrix product";
    return;
  }
  const auto more = as_double(row.count);
  if (cost.flops && line.flops_reason.empty()) {
    line.flops = line.flops.value_or(0) + *cost.flops * more;
  } else if (!cost.flops) {
    line.flops.reset();
    line.flops_reason = cost.reason;
    line.is_unexplained = true;
  }
  if (cost.dtype) line.dtype = std::string(dtype_name(*cost.dtype));
}

double share(const TraceLine& line, const Attribution& attribution) {
  const bool is_of_device = attribution.device.total_ns > 0;
  const std::int64_t total = is_of_device ? attribution.device.total_ns : attribution.host_ns;
  const std::int64_t own = is_of_device ? line.device_ns : line.host_ns;
  return total > 0 ? as_double(own) / as_double(total) : 0;
}

}  // namespace

LayerRange layer_range(const std::string& text) {
  LayerRange out;
  if (text.empty()) return out;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, out.first);
  bool is_valid = first.ec == std::errc() && out.first >= 0;
  out.last = out.first;
  if (is_valid && first.ptr != end) {
    const bool has_dots = end - first.ptr > 2 && first.ptr[0] == '.' && first.ptr[1] == '.';
    const auto last = std::from_chars(has_dots ? first.ptr + 2 : end, end, out.last);
    is_valid = has_dots && last.ec == std::errc() && last.ptr == end && out.last >= out.first;
  }
  if (!is_valid) throw refused("--layers '" + text + "' is no range", {}, "write 3 or 0..5");
  return out;
}

TraceView trace_view(const Recording& recording, const Attribution& attribution,
                     const TraceFilter& filter) {
  using Key = std::tuple<TraceStage, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> index;
  std::vector<TraceLine> lines;
  for (const OperatorRow& row : attribution.rows) {
    const TraceStage stage = row.pass < attribution.passes.size()
                                 ? attribution.passes[row.pass].stage
                                 : TraceStage::unknown;
    const auto [it, is_new] = index.try_emplace({stage, row.scope, row.name}, lines.size());
    if (is_new) {
      const Scope& scope = attribution.scopes[row.scope];
      lines.push_back({.stage = stage,
                       .layer = scope.layer,
                       .path = printable(scope.path),
                       .operator_name = printable(recording.names[row.name]),
                       .category = std::string(operator_class_name(row.of))});
    }
    add_row(lines[it->second], row, attribution.cost_of(row));
  }
  TraceView out;
  for (TraceLine& line : lines) {
    if (!passes(line, filter)) continue;
    line.share = share(line, attribution);
    out.known_flops += line.flops.value_or(0);
    out.unknown_count += line.is_unexplained ? line.count : 0;
    out.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(out.lines, [](const TraceLine& a, const TraceLine& b) {
    return std::tuple(a.stage, a.layer) < std::tuple(b.stage, b.layer);
  });
  return out;
}

TimeCauses causes_of(const Attribution& attribution) {
  TimeCauses out{.passes = attribution.passes.size(),
                 .has_device = attribution.device.total_ns > 0};
  for (const Pass& pass : attribution.passes) {
    out.wall_ns += as_double(pass.end_ns - pass.begin_ns);
  }
  if (out.wall_ns <= 0) return out;
  std::map<std::string, double> by_category;
  double busy_ns = 0;
  for (const OperatorRow& row : attribution.rows) {
    if (row.pass >= attribution.passes.size()) continue;
    const auto ns = as_double(out.has_device ? row.device_ns : row.host_ns);
    by_category[std::string(operator_class_name(row.of))] += ns;
    busy_ns += ns;
  }
  // Streams overlap: their kernels may take longer than the step.
  const double whole_ns = std::max(out.wall_ns, busy_ns);
  for (const auto& [name, ns] : by_category) {
    if (ns > 0) out.causes.push_back({name, ns, ns / whole_ns});
  }
  std::ranges::stable_sort(out.causes, std::greater{}, &TimeCause::ns);
  out.causes.push_back(
      {out.has_device ? "no kernel" : "no operator", whole_ns - busy_ns, 1 - busy_ns / whole_ns});
  return out;
}

}  // namespace halmark::trace
