#include "pages/step/kernel_section.hpp"

#include <fmt/format.h>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "profile/kernels/kernel_json.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

using report::rounded_percent_text;

// JSON itself, FILE or @FILE.
struct Source {
  Json json;
  std::string where;
};

Source source_of(const std::string& argument, const char* option) {
  const std::size_t first = argument.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (argument[first] == '{' || argument[first] == '[')) {
    return {parse_json(argument, option), option};
  }
  const std::string path = argument.starts_with('@') ? argument.substr(1) : argument;
  return {parse_json(read_kind(path, json_input, "kernel-times"), input_name(path)),
          input_name(path)};
}

double us(std::int64_t ps) { return static_cast<double>(ps) / ps_per_us; }

std::string binding_text(const AccountedKernel& row) {
  const std::string status(binding_status_name(row.status));
  if (!row.operators.empty()) {
    return join(row.operators, "+") + (row.status == BindingStatus::shared ? " (shared)" : "");
  }
  if (!row.candidates.empty()) return status + ": " + join(row.candidates, "+");
  return status;
}

std::string kernels_text(const KernelAccount& account, int width) {
  report::TextTable table({"kernel", "category", "layer", ">us", "operators", "dtype",
                           ">GFLOP/rank", ">floor us", "bound", ">MFU"});
  for (const AccountedKernel& row : account.rows) {
    table.add({row.time.name.empty() ? "-" : printable(row.time.name), printable(row.time.category),
               row.layer_type, fmt::format("{:.3f}", us(row.time.duration_ps)), binding_text(row),
               row.dtype ? std::string(dtype_name(*row.dtype)) : "-",
               row.flops ? fmt::format("{:.3f}", *row.flops / 1e9) : "-",
               row.floor_ns ? fmt::format("{:.3f}", *row.floor_ns / 1e3) : "-",
               row.bound.empty() ? "-" : row.bound, row.mfu ? rounded_percent_text(row.mfu) : "-"});
  }
  std::string out = '\n' + table.text(width);
  out += fmt::format("assigned {:.6g} + overhead {:.6g} + unknown {:.6g} = total {:.6g} us",
                     us(account.assigned_ps), us(account.overhead_ps), us(account.unknown_ps),
                     us(account.total_ps));
  if (account.between_kernels_ps > 0) {
    out += fmt::format(" ({:.6g} us of it between kernels)", us(account.between_kernels_ps));
  }
  out += account.mfu ? fmt::format("; MFU of the kernels {}{}, every row at the peak of its type\n",
                                   account.is_lower_bound ? "at least " : "",
                                   rounded_percent_text(account.mfu))
                     : "; MFU of the kernels unknown: " + account.reason + '\n';
  for (const std::string& line : lines_of(account.quarantined)) out += line + '\n';
  for (const std::string& name : account.unmeasured) out += "no kernel for: " + name + '\n';
  return out;
}

std::string layers_text(const std::vector<LayerUse>& uses, int width) {
  report::TextTable table(
      {"layer type", ">layers", ">ms", ">GFLOP", ">GFLOP/rank", ">MFU", ">executed"});
  for (const LayerUse& use : uses) {
    table.add({use.time.layer_type, std::to_string(use.layers),
               fmt::format("{:g}", use.time.ns / 1e6),
               fmt::format("{:.3f}", use.matmul_flops / 1e9),
               fmt::format("{:.3f}", use.matmul_flops_per_rank / 1e9),
               use.mfu ? rounded_percent_text(use.mfu) : "-",
               use.mfu ? rounded_percent_text(use.executed) : "-"});
  }
  std::string out = '\n' + table.text(width);
  for (const LayerUse& use : uses) {
    if (!use.mfu) out += "MFU of " + use.time.layer_type + " unknown: " + use.reason + '\n';
  }
  return out +
         "layers only: embedding, head, launch gaps and communication between them are not "
         "in these times\n";
}

}  // namespace

report::View kernels_view(const PricedStep& step, const MeasuredKernels& measured, int width) {
  report::View out{.data = {{"per_layer", nullptr}, {"kernels", nullptr}}};
  if (!measured.per_layer_ms.empty()) {
    const auto uses = layer_uses(parse_layer_ms(measured.per_layer_ms, step.graph), step.graph,
                                 step.device, step.share);
    out.data["per_layer"] = layers_json(uses);
    out.text += layers_text(uses, width);
  }
  if (measured.kernel_ms.empty() && measured.kernel_flow.empty()) return out;
  const bool is_flow = measured.kernel_ms.empty();
  const Source source = source_of(is_flow ? measured.kernel_flow : measured.kernel_ms,
                                  is_flow ? "--kernel-flow" : "--kernel-ms");
  const KernelProfile table = is_flow ? read_kernel_flow(source.json, source.where)
                                      : read_kernel_ms(source.json, source.where);
  const KernelAccount account = account_kernels(table, step.graph, step.device, step.share);
  out.data["kernels"] = kernels_json(account);
  out.text += kernels_text(account, width);
  return out;
}

}  // namespace halmark::pages
