// halmark model: where FLOPs and time go, per operator and per layer.
#include <fmt/format.h>

#include "core/lists.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

using report::rounded_percent_text;
using report::TextTable;

// Operators below this of FLOPs and of time share one row of the short table.
constexpr double small_share = 0.002;
constexpr double least_ns = 1e3;  // that is printed of a time

std::string ms_text(const std::optional<double>& ns) {
  if (!ns) return "-";
  if (*ns > 0 && *ns < least_ns) return "<0.001";
  return *ns < 1e10 ? report::significant_text(*ns / 1e6) : report::four_digits_text(*ns / 1e6);
}

// No kernel takes less than its launch: where that is its time, a figure of each says nothing.
constexpr double launch_ns = 2000, launch_share = 0.02;

bool is_small(const StepShare& share) {
  if (share.flops >= small_share) return false;
  const double time = share.time.value_or(0);
  const bool is_launch = share.floor_ns && share.executions.value_or(0) > 0 &&
                         *share.floor_ns < launch_ns * *share.executions;
  return time < small_share || (is_launch && time < launch_share);
}

std::string bound_of(const PricedStep& step, std::size_t op) {
  const auto floor = operator_floor(step, step.graph.operators[op]);
  return floor ? std::string(limiter_name(floor->limiter)) : "-";
}

void add_sum(std::optional<double>& to, const std::optional<double>& value) {
  if (value) to = to.value_or(0) + *value;
}

// One row of the short table: shares, and times where there are any, else the work itself.
class ShortTable {
 public:
  explicit ShortTable(const StepPage& page)
      : page_(page),
        has_times_(page.answer.floor_ns || page.answer.expected),
        table_(titles(), {false, true, true, true, true, true, has_floors(), false}) {}

  void add_layer(const LayerShare& layer) {
    if (layer.operators.size() == 1) {
      const std::size_t only = layer.operators.front();
      const std::string& name = page_.step.graph.operators[only].name;
      return add_operator(only, name == layer.layer_type ? name : layer.layer_type + ": " + name);
    }
    add(layer.layer_type, layer.layers, layer.share, work_of(layer.operators), "");
    std::vector<std::size_t> small;
    for (const std::size_t i : layer.operators) {
      if (is_small(page_.answer.operators[i])) small.push_back(i);
    }
    for (const std::size_t i : layer.operators) {
      if (small.size() < 2 || !is_small(page_.answer.operators[i])) {
        add_operator(i, "  " + page_.step.graph.operators[i].name);
      }
    }
    if (small.size() > 1) add_small(layer, small);
  }

  std::string text() const { return table_.text(page_.form.width); }

 private:
  using Titles = std::vector<std::string>;
  // Beside expected times.
  bool has_floors() const { return page_.answer.expected && page_.answer.floor_ns; }
  Titles titles() const {
    Titles out = {"operator", "count", "of FLOPs"};
    if (!has_times_) return {"operator", "count", "of FLOPs", "GFLOP", "MiB/rank"};
    out.insert(out.end(), {"of time", "ms", "ms each"});
    if (has_floors()) out.emplace_back("at best");
    out.emplace_back("bound");
    return out;
  }
  struct Amount {
    double flops = 0, bytes_per_rank = 0;
  };

  Amount work_of(const std::vector<std::size_t>& operators) const {
    Amount out;
    for (const std::size_t i : operators) {
      const OperatorFigures row = operator_figures(page_.step, i);
      out.flops += row.flops;
      out.bytes_per_rank += row.bytes_per_rank;
    }
    return out;
  }

  void add(const std::string& name, std::int64_t count, const StepShare& share, const Amount& work,
           const std::string& bound) {
    const std::string flops = rounded_percent_text(share.flops);
    if (has_times_) {
      std::vector<std::string> row = {name,
                                      std::to_string(count),
                                      flops,
                                      rounded_percent_text(share.time),
                                      ms_text(share.ns),
                                      ms_text(share.ns_each)};
      if (has_floors()) row.push_back(ms_text(share.floor_ns));
      row.push_back(bound);
      table_.add(std::move(row));
    } else {
      table_.add({name, std::to_string(count), flops, fmt::format("{:.3f}", work.flops / 1e9),
                  fmt::format("{:.2f}", work.bytes_per_rank / 0x1p20)});
    }
  }

  void add_operator(std::size_t i, const std::string& name) {
    add(name, page_.step.graph.operators[i].count, page_.answer.operators[i], work_of({i}),
        bound_of(page_.step, i));
  }

  // What is too small to be looked at, in one row.
  void add_small(const LayerShare& layer, const std::vector<std::size_t>& small) {
    StepShare sum;
    for (const std::size_t i : small) {
      const StepShare& share = page_.answer.operators[i];
      sum.flops += share.flops;
      add_sum(sum.time, share.time);
      add_sum(sum.ns, share.ns);
      add_sum(sum.floor_ns, share.floor_ns);
    }
    if (sum.ns && layer.share.executions.value_or(0) > 0) {
      sum.ns_each = *sum.ns / *layer.share.executions;
    }
    add(fmt::format("  ({} small ones)", small.size()), layer.layers, sum, work_of(small), "");
  }

  const StepPage& page_;
  bool has_times_;
  TextTable table_;
};

std::string time_note(const StepPage& page) {
  std::string out;
  switch (page.answer.source) {
    case TimeSource::none:
      return {};
    case TimeSource::floor:
      out = "ms: floors on one rank, the best to expect; \"each\" is one layer or one execution";
      break;
    case TimeSource::expected:
      out = "ms: expected on one rank; at best: its floors; \"each\" is one layer or one execution";
      break;
    case TimeSource::measured:
      if (!page.answer.floor_ns && !page.answer.expected) {
        return "ms: not shared out: " + page.answer.floor_reason + '\n';
      }
      out = fmt::format(
          "ms: the measured step shared out by {}; no operator was timed (--kernel-ms, "
          "--per-layer-ms)",
          page.answer.expected ? "what is expected of its operators" : "the operators' floors");
      break;
  }
  if (page.step.is_training()) {
    out += "; a layer forward and backward, an operator per pass, without gradients' all-reduce";
  }
  if (page.step.graph.stages.size() > 1) {
    const std::size_t stages = page.step.graph.stages.size();
    out += page.answer.is_way
               ? fmt::format("; of one micro-batch through all {} stages", stages)
               : fmt::format("; of stage {} of {}, the busiest", page.answer.stage + 1, stages);
  }
  return report::wrapped(out, page.form.width);
}

std::string short_table(const StepPage& page) {
  ShortTable table(page);
  for (const LayerShare& layer : page.answer.layers) table.add_layer(layer);
  return table.text() + time_note(page);
}

std::string whole_table(const StepPage& page) {
  // What fits no terminal stands at the end: columns are left out from there.
  TextTable table({"operator", "layer", ">count", ">of time", ">ms", ">ms each", "bound",
                   ">of FLOPs", ">GFLOP", ">GFLOP/rank", ">MiB/rank", "dtype", "split", "in",
                   "out"});
  for (const auto i : indices(page.step.graph.operators)) {
    const Operator& op = page.step.graph.operators[i];
    const OperatorFigures row = operator_figures(page.step, i);
    const StepShare& share = page.answer.operators[i];
    table.add({op.name, op.layer_type, std::to_string(op.count), rounded_percent_text(share.time),
               ms_text(share.ns), ms_text(share.ns_each), bound_of(page.step, i),
               rounded_percent_text(share.flops), fmt::format("{:.3f}", row.flops / 1e9),
               fmt::format("{:.3f}", row.flops_per_rank / 1e9),
               fmt::format("{:.2f}", row.bytes_per_rank / 0x1p20),
               std::string(dtype_name(op.dtype)), std::string(split_name(op.split)), op.shape_in,
               op.shape_out});
  }
  TextTable layers({"layer", ">layers", ">of FLOPs", ">of time", ">ms", ">ms each"});
  for (const LayerShare& layer : page.answer.layers) {
    layers.add({layer.layer_type, std::to_string(layer.layers),
                rounded_percent_text(layer.share.flops), rounded_percent_text(layer.share.time),
                ms_text(layer.share.ns), ms_text(layer.share.ns_each)});
  }
  return table.text(page.form.width) + '\n' + layers.text(page.form.width) + time_note(page);
}

}  // namespace

std::string operators_text(const StepPage& page) {
  return (page.form.shows_all ? whole_table(page) : short_table(page)) + '\n';
}

}  // namespace halmark::pages
