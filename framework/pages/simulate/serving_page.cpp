#include "pages/simulate/serving_page.hpp"

#include <fmt/format.h>

#include "core/numeric/cast.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "simulate/serving/serving_json.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using report::duration_text;
using report::rounded_percent_text;
using report::significant_text;
using report::TextTable;

std::string latency_table(const ServingPage& page) {
  const serving::ServerSummary& s = page.summary;
  const bool has_closed_form = page.closed_form.has_value();
  TextTable table({"", "n", "mean", page.ranges ? "90 % interval" : "", "p50", "p90", "p99",
                   has_closed_form ? "closed form" : ""},
                  {false, true, true, true, true, true, true, true});
  const serving::MeanRanges ranges = page.ranges.value_or(serving::MeanRanges{});
  const auto add = [&](const char* name, const serving::Percentiles& p,
                       const serving::MeanRange& range, double closed_ns) {
    if (p.n == 0) return;
    table.add({name, std::to_string(p.n), duration_text(p.mean),
               page.ranges ? report::duration_range_text(range.low, range.high) : "",
               duration_text(p.p50), duration_text(p.p90), duration_text(p.p99),
               has_closed_form ? duration_text(closed_ns) : ""});
  };
  const ClosedLoopFigures closed = page.closed_form.value_or(ClosedLoopFigures{});
  add("time to the first token", s.ttft, ranges.ttft, closed.ttft_ns);
  add("time per later token", s.tpot, ranges.tpot, closed.tpot_ns);
  add("whole request", s.request, ranges.request, closed.request_ns);
  return table.text();
}

// Engines one after the other whose figures are the same are one row: "decode worker 0..31".
std::string engine_table(const ServingPage& page) {
  TextTable table({"engine", ">steps", ">busy", ">blocks at most", ">written", ">reused",
                   ">evicted", ">recomputed", ">preempted"});
  std::vector<std::vector<std::string>> rows;
  std::string kind;
  for (const serving::EngineRecord& e : page.record.engines) {
    const double busy =
        as_double(e.busy_ps) / as_double(std::max<events::Picoseconds>(1, page.record.makespan_ps));
    std::vector<std::string> row = {e.name,
                                    std::to_string(e.steps),
                                    rounded_percent_text(busy),
                                    std::to_string(e.blocks_peak),
                                    std::to_string(e.kv.allocated),
                                    std::to_string(e.kv.reused),
                                    std::to_string(e.kv.evicted),
                                    std::to_string(e.kv.recomputed),
                                    std::to_string(e.put_off)};
    const std::size_t number = e.name.find_last_not_of("0123456789") + 1;
    const bool is_alike = !rows.empty() && number < e.name.size() &&
                          e.name.substr(0, number) == kind &&
                          std::equal(row.begin() + 1, row.end(), rows.back().begin() + 1);
    kind = e.name.substr(0, number);
    if (!is_alike) {
      rows.push_back(std::move(row));
      continue;
    }
    std::string& name = rows.back().front();
    name = name.substr(0, name.find("..")) + ".." + e.name.substr(number);
  }
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  return table.text();
}

std::string level_line(const ServingPage& page) {
  const serving::ServerSummary& s = page.summary;
  if (!s.goodput_share) return "";
  std::string levels;
  const auto add = [&](const char* name, const std::optional<double>& ns) {
    if (ns) append_item(levels, ", ", fmt::format("{} at most {}", name, duration_text(*ns)));
  };
  add("ttft", page.levels.ttft_ns);
  add("tpot", page.levels.tpot_ns);
  std::string out = fmt::format("goodput: {} requests/s, {} of the requests keep {}\n",
                                significant_text(*s.goodput_requests_per_s),
                                rounded_percent_text(*s.goodput_share), levels);
  const auto add_probability = [&](const char* name, const std::optional<double>& p) {
    if (!p) return;
    out += fmt::format("measured, the mean {} keeps its level with {}, by the interval below\n",
                       name, rounded_percent_text(*p));
  };
  add_probability("ttft", page.keeps_ttft);
  add_probability("tpot", page.keeps_tpot);
  return out;
}

std::string other_lines(const ServingPage& page) {
  const serving::ServerRecord& r = page.record;
  std::string out;
  if (r.cold_start_ps) {
    out += fmt::format("cold start: {} from nothing to the first token, weights of {} from {}\n",
                       duration_text(as_double(*r.cold_start_ps) * 1e-3),
                       bytes_text(page.plan.cold_start.weight_bytes), page.plan.cold_start.from);
  }
  if (r.handed_over_bytes > 0) {
    out += fmt::format("over the link: {} of KV cache, {} requests moved between engines\n",
                       bytes_text(r.handed_over_bytes), r.migrations);
  }
  return out;
}

// What the interval is of, and whether anything was held out that it could be wrong on.
std::string interval_line(const ServingPage& page) {
  if (!page.ranges) return "";
  std::string out =
      "90 % interval: where measured means lay in cases that the terms were not fitted on";
  if (const auto& rate = page.ranges->requests_per_s) {
    out += fmt::format("; {}..{} requests/s", significant_text(rate->low),
                       significant_text(rate->high));
  }
  return out + (page.ranges->has_rows_of_device
                    ? "\n"
                    : "; of this device nothing was: taken from others\n");
}

Json interval_json(const ServingPage& page) {
  if (!page.ranges) return nullptr;
  const auto of = [](const serving::MeanRange& r, double scale) {
    return Json{{"low", r.low * scale}, {"high", r.high * scale}};
  };
  const serving::MeanRanges& r = *page.ranges;
  return {{"ttft_ms", of(r.ttft, 1e-6)},
          {"tpot_ms", of(r.tpot, 1e-6)},
          {"request_ms", of(r.request, 1e-6)},
          {"requests_per_s", r.requests_per_s ? of(*r.requests_per_s, 1) : Json(nullptr)},
          {"has_rows_of_device", r.has_rows_of_device}};
}

Json closed_form_json(const ServingPage& page) {
  if (!page.closed_form) return nullptr;
  const ClosedLoopFigures& f = *page.closed_form;
  return {{"ttft_ms", f.ttft_ns * 1e-6},
          {"tpot_ms", f.tpot_ns * 1e-6},
          {"request_ms", f.request_ns * 1e-6},
          {"in_engine", f.in_engine},
          {"is_saturated", f.is_saturated}};
}

// Behind the first line: an average over a run whose queue only grew is of no load.
std::string saturation_text(const ServingPage& page) {
  if (!page.saturation || !page.saturation->is_saturated) return "";
  return fmt::format(
      "; SATURATED: {} requests/s are offered and {} served, so that waiting only grows",
      significant_text(page.saturation->offered_per_s),
      significant_text(page.saturation->served_per_s));
}

Json saturation_json(const ServingPage& page) {
  if (!page.saturation) return nullptr;
  return {{"is_saturated", page.saturation->is_saturated},
          {"offered_requests_per_s", page.saturation->offered_per_s},
          {"served_requests_per_s", page.saturation->served_per_s}};
}

// "TTFT 29.3 ms (5.35..55.0 ms), TPOT 6.51 ms (3.01..10.7 ms), 9.71 requests/s, ..."
std::string headline(const ServingPage& page) {
  const serving::ServerSummary& s = page.summary;
  std::string out;
  const auto add = [&](const char* name, const serving::Percentiles& p,
                       serving::MeanRange serving::MeanRanges::*of) {
    if (p.n == 0) return;
    out += std::string(name) + ' ' + duration_text(p.mean);
    if (page.ranges) {
      const serving::MeanRange& range = (*page.ranges).*of;
      out += " (" + report::duration_range_text(range.low, range.high) + ')';
    }
    out += ", ";
  };
  add("TTFT", s.ttft, &serving::MeanRanges::ttft);
  add("TPOT", s.tpot, &serving::MeanRanges::tpot);
  return out + significant_text(s.requests_per_s) + " requests/s, " +
         significant_text(s.tokens_per_s) + " tokens/s" + saturation_text(page) + '\n';
}

}  // namespace

report::View serving_page(const ServingPage& page) {
  const serving::ServerSummary& s = page.summary;
  report::View out;
  out.data = serving::server_json(page.plan, page.record, s);
  out.data["configuration"] = page.layout;
  out.data["precision"] = page.configuration.precision.name;
  out.data["closed_form"] = closed_form_json(page);
  out.data["saturation"] = saturation_json(page);
  out.data["interval"] = interval_json(page);
  out.data["keeps_ttft_probability"] = page.keeps_ttft ? Json(*page.keeps_ttft) : Json(nullptr);
  out.data["keeps_tpot_probability"] = page.keeps_tpot ? Json(*page.keeps_tpot) : Json(nullptr);
  out.data["basis"] = page.basis;
  const auto& engine = page.plan.engine;
  out.text = headline(page);
  out.text += fmt::format(
      "{} {} {}, {}: {} requests in {}, simulated\n"
      "KV cache of an engine: {} blocks of {} tokens, {} each on all ranks; {} of weights on a "
      "rank\n\n",
      page.configuration.model, page.configuration.precision.name, page.layout,
      serving::server_mode_name(page.plan.mode), page.record.requests.size(),
      duration_text(s.makespan_s * 1e9), engine.blocks, engine.block_tokens,
      bytes_text(engine.block_bytes), bytes_text(page.room.rank_weight_bytes));
  out.text += latency_table(page);
  out.text += fmt::format(
      "\nthroughput: {} generated tokens/s, {} requests/s; {} in the server on average\n",
      significant_text(s.tokens_per_s), significant_text(s.requests_per_s),
      significant_text(page.record.in_system));
  out.text += interval_line(page) + level_line(page) + other_lines(page);
  out.text += '\n' + engine_table(page) + '\n';
  for (const std::string& line : page.basis) out.text += message_text(line) + '\n';
  return out;
}

}  // namespace halmark::pages
