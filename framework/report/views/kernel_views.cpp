// The rows of `halmark bench`.
#include "report/views/kernel_views.hpp"

#include <algorithm>
#include <optional>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/sentences.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

Json row_json(const KernelPoint& p) {
  Json out = {{"op", p.op},
              {"problem", p.problem},
              {"dtype", p.dtype},
              {"backend", p.place.substr(0, p.place.find(':'))},
              {"device", p.place},
              {"mode", p.mode},
              {"implementation", p.implementation},
              {"duration_ns_median", optional_number(p.duration_ns)},
              {"ci_low_ns", optional_number(p.low_ns)},
              {"ci_high_ns", optional_number(p.high_ns)},
              {"flops", p.matmul_flops},
              {"bytes", p.bytes},
              {"mfu", optional_number(p.mfu)},
              {"path_fraction", optional_number(p.path_fraction)},
              {"mfu_datasheet", optional_number(p.mfu_datasheet)},
              {"bound_ns", p.lower_bound_ns > 0 ? Json(p.lower_bound_ns) : Json()},
              {"limiter", limiter_name(p.limiter)},
              {"roofline_fraction", optional_number(p.roofline_fraction)},
              {"bandwidth_share", optional_number(p.bandwidth_share)},
              {"clean_share", optional_number(p.clean_share)},
              {"rounds", p.rounds},
              {"create_ns", p.one_time.create_ns},
              {"pack_ns", p.one_time.pack_ns},
              {"first_ns", p.one_time.first_ns},
              {"status", status_name(p.status)},
              {"reason", p.reason}};
  if (!p.mfu) out["mfu_reason"] = p.mfu_reason;
  if (!p.baseline.empty()) {
    out["baseline"] = p.baseline;
    out["score"] = optional_number(p.score);
    if (!p.score) out["score_reason"] = p.score_reason;
  }
  if (!p.bandwidth_share) out["bandwidth_share_reason"] = p.bandwidth_reason;
  if (!p.duration_ns) out["duration_ns_median_reason"] = p.reason;
  if (p.busbw_bytes_per_s) {
    out["algbw_bytes_per_s"] = *p.algbw_bytes_per_s;
    out["busbw_bytes_per_s"] = *p.busbw_bytes_per_s;
  }
  return out;
}

std::string rate_of(const KernelPoint& p) {
  if (!p.duration_ns) return "-";
  const bool has_flops = p.matmul_flops > 0;
  const double amount = has_flops ? p.matmul_flops : p.bytes;
  return rate_text(amount / *p.duration_ns * 1e9, has_flops ? "FLOP/s" : "B/s");
}

// What a collective does with a link says more than fractions of the memory's speed.
std::string point_table(std::span<const KernelPoint> points, bool are_collectives, int width) {
  std::vector<std::string> problems, implementations;
  for (const KernelPoint& p : points) {
    problems.push_back(p.problem);
    implementations.push_back(p.implementation);
  }
  const std::string shared = take_common_words(problems);
  implementations = short_implementations(implementations);
  std::vector<std::string> head{"problem", "device", "implementation", "median", "interval"};
  const std::vector<std::string> figures =
      are_collectives ? std::vector<std::string>{"algbw", "busbw"}
                      : std::vector<std::string>{"rate", "mfu", "path", "roofline", "memory at"};
  std::vector<bool> right{false, false, false, true, true};
  append_all(head, figures);
  right.insert(right.end(), figures.size(), true);
  const bool has_scores =
      std::ranges::any_of(points, [](const KernelPoint& p) { return p.score.has_value(); });
  if (has_scores) {
    head.push_back("score");
    right.push_back(true);
  }
  head.push_back("status");
  right.push_back(false);
  Table table;
  for (const auto c : indices(head)) table.columns.push_back({head[c], right[c]});
  const auto bandwidth = [](const std::optional<double>& bytes_per_s) {
    return bytes_per_s ? bandwidth_text(*bytes_per_s) : std::string(absent_text);
  };
  for (const auto i : indices(points)) {
    const KernelPoint& p = points[i];
    std::vector<std::string> row{
        problems[i], p.place, implementations[i],
        p.duration_ns ? duration_text(*p.duration_ns) : "-",
        p.duration_ns ? duration_text(*p.low_ns) + " .. " + duration_text(*p.high_ns) : "-"};
    const std::vector<std::string> values =
        are_collectives
            ? std::vector{bandwidth(p.algbw_bytes_per_s), bandwidth(p.busbw_bytes_per_s)}
            : std::vector{rate_of(p), rounded_percent_text(p.mfu),
                          rounded_percent_text(p.path_fraction),
                          rounded_percent_text(p.roofline_fraction),
                          rounded_percent_text(p.bandwidth_share)};
    append_all(row, values);
    if (has_scores) row.push_back(p.score ? number_text(*p.score, 3) : std::string(absent_text));
    row.push_back(std::string(status_name(p.status)) + (p.reason.empty() ? "" : ": " + p.reason));
    auto& cells = table.rows.emplace_back();
    for (const std::string& text : row) cells.push_back({text});
  }
  std::string out;
  if (!shared.empty()) out += wrapped("in every problem: " + shared, width);
  if (const std::string constant = take_constants(table, {"median"}); !constant.empty()) {
    out += wrapped(constant, width);
  }
  return out + stacked_text(table, width);
}

// "20.0 % to 70.0 %" of those rows that have one; "" where none has.
std::string range_text(std::span<const KernelPoint> points,
                       std::optional<double> KernelPoint::*share) {
  std::optional<double> low, high;
  for (const KernelPoint& p : points) {
    if (!(p.*share)) continue;
    low = std::min(low.value_or(*(p.*share)), *(p.*share));
    high = std::max(high.value_or(*(p.*share)), *(p.*share));
  }
  if (!low) return {};
  const std::string first = rounded_percent_text(low), last = rounded_percent_text(high);
  return first == last ? first : first + " to " + last;
}

// Of their samples, where it is most of them.
std::string interference_text(std::span<const KernelPoint> points) {
  std::optional<double> clean;
  for (const KernelPoint& p : points) {
    if (p.clean_share) clean = std::min(clean.value_or(*p.clean_share), *p.clean_share);
  }
  if (!clean || *clean >= 0.5) return {};
  return "this machine is busy: interference from other processes in " +
         std::string(points.size() > 1 ? "up to " : "") + rounded_percent_text(1 - *clean) +
         " of the samples (end them, or see halmark doctor); ";
}

}  // namespace

std::string kernels_headline(std::span<const KernelPoint> points) {
  std::string out = interference_text(points);
  const auto* timed =
      find_or_null(points, true, [](const KernelPoint& p) { return p.duration_ns.has_value(); });
  if (!timed) {
    return out + "no time: " + (points.empty() ? "no row" : points.front().reason) + '\n';
  }
  out += points.size() == 1 ? timed->op + ": " + rate_of(*timed)
                            : timed->op + ", " + std::to_string(points.size()) + " rows:";
  const char* comma = points.size() == 1 ? ", " : " ";
  const std::string peak = range_text(points, &KernelPoint::mfu),
                    best = range_text(points, &KernelPoint::roofline_fraction);
  if (!peak.empty()) out += comma + peak + " of the measured peak";
  if (peak.empty() && timed->matmul_flops > 0) out += comma + ("no MFU: " + timed->mfu_reason);
  if (!best.empty()) {
    out += (peak.empty() && timed->matmul_flops <= 0 ? comma : "; ") + best +
           " of the best possible of these sizes";
    if (points.size() == 1) out += ", bound by " + std::string(limiter_name(timed->limiter));
  }
  if (points.size() > 1 && peak.empty() && best.empty() && timed->matmul_flops <= 0) {
    out += " no peaks of this device to compare with: halmark peaks";
  }
  const auto bad = std::ranges::count_if(
      points, [](const KernelPoint& p) { return !p.duration_ns || p.status != Status::ok; });
  if (points.size() > 1 && bad > 0) {
    out += "; " + std::to_string(bad) + " of " + std::to_string(points.size()) + " not ok";
  }
  return out + '\n';
}

void add_assumed(View& view, const std::string& assumed) {
  if (assumed.empty()) return;
  view.data["assumed"] = assumed;
  view.text.insert(view.text.find('\n') + 1, "assumed: " + assumed + '\n');
}

View kernels_view(std::span<const KernelPoint> points, bool are_collectives, int width) {
  Json rows = json_list(points, row_json);
  return {.data = {{"rows", std::move(rows)}}, .text = point_table(points, are_collectives, width)};
}

std::string rows_text(const RunReport& report, int width) {
  if (!has_kernels_alone(report)) return {};
  const bool are_collectives = report.kernels.front().busbw_bytes_per_s.has_value();
  return kernels_headline(report.kernels) +
         kernels_view(report.kernels, are_collectives, width).text;
}

}  // namespace halmark::report
