// halmark model of a served load: what a user experiences, under which layout, in what memory.
#include <fmt/format.h>

#include "core/json/json.hpp"
#include "report/served_table.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/wrapped_text.hpp"
#include "tune/requests/served_request.hpp"

namespace halmark::tune {
namespace {

using report::bytes_text;
using report::duration_text;
using report::four_digits_text;
using report::grouped_text;

std::string time_text(const ServedEstimate& e, double ServingFigures::*of) {
  return ranged_time(e.figures.*of, e.fast.*of, e.slow.*of);
}

std::string rate_text(const ServedEstimate& e) {
  std::string out = four_digits_text(e.figures.tokens_per_s) + " tokens/s";
  if (!e.has_interval) return out;
  return out + fmt::format(" ({}..{})", four_digits_text(e.slow.tokens_per_s),
                           four_digits_text(e.fast.tokens_per_s));
}

std::string load_text(const ServedLoad& load) {
  return fmt::format("{} requests at a time of {} + {} tokens", grouped_text(load.concurrency),
                     grouped_text(load.request.input_tokens),
                     grouped_text(load.request.output_tokens));
}

std::string devices_text(const BestServed& best) {
  const std::int64_t n = best.configuration.devices();
  return (n > 1 ? std::to_string(n) + " x " : "") + best.device;
}

std::vector<std::string> no_fit(const BestServed& best) {
  std::vector<std::string> out = {
      "does not fit" + (best.report.tried.empty() ? "" : " on " + devices_text(best)) +
      (best.report.least.empty() ? "" : "; fits from " + best.report.least)};
  for (const auto& [reason, count] : best.report.refused) {
    out.push_back(
        fmt::format("{} layouts refused: {} ({})", count, reason, best.report.examples.at(reason)));
  }
  return out;
}

std::vector<std::string> lines_of(const BestServed& best) {
  if (!best.estimate) return no_fit(best);
  const ServedEstimate& e = *best.estimate;
  const Configuration& c = best.configuration;
  std::vector<std::string> out;
  out.push_back(fmt::format("TTFT {}, TPOT {}, {}, {}", time_text(e, &ServingFigures::ttft_ns),
                            time_text(e, &ServingFigures::tpot_ns), rate_text(e),
                            !e.has_interval ? "at best: bounds, no forecast"
                            : best.best_per_s
                                ? "forecast, at best " + four_digits_text(*best.best_per_s)
                                : "forecast"));
  out.push_back(fmt::format("on {} as {}, the most tokens/s of {} that fit; {}", devices_text(best),
                            served_label(c), best.layouts, load_text(*c.served)));
  out.push_back(fmt::format(
      "memory of a rank: {} of {}; {} tokens/s a device, a request takes {}",
      bytes_text(e.figures.memory_bytes_per_rank), bytes_text(best.device_bytes),
      four_digits_text(e.figures.tokens_per_s_per_device), duration_text(e.figures.request_ns)));
  out.push_back(fmt::format("next: halmark tune {} --device {} --devices {} --input {} --output {}",
                            c.model, best.device, c.devices(), c.served->request.input_tokens,
                            c.served->request.output_tokens));
  return out;
}

}  // namespace

report::View best_served_view(const BestServed& best, int width) {
  const std::vector<std::string> lines = lines_of(best);
  report::View out;
  for (const std::string& line : lines) out.text += report::wrapped(line, width);
  out.text += '\n';
  for (const std::string& line : best.report.basis) {
    if (!line.starts_with("times:   ")) out.text += report::wrapped(line, width);
  }
  out.data = {{"answer", {{"text", lines.front()}, {"lines", lines}}},
              {"served", nullptr},
              {"basis", best.report.basis}};
  if (!best.estimate) {
    out.data["least"] = best.report.least.empty() ? Json(nullptr) : Json(best.report.least);
    return out;
  }
  out.data["served"] = *best.estimate;
  out.data["served"]["deployment"] = best.configuration;
  out.data["served"]["tokens_per_s_at_best"] = optional_number(best.best_per_s);
  out.data["served"]["layouts"] = best.layouts;
  return out;
}

}  // namespace halmark::tune
