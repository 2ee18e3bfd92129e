// halmark model: what the headers of the named checkpoint say beside the step.
#include <fmt/format.h>

#include <cmath>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {

namespace {

std::string stored_text(const WeightsReport& r) {
  std::string types;
  for (const auto& [name, stored] : r.types) {
    append_item(types, ", ", fmt::format("{} {}", printable(name), size_text(stored.bytes)));
  }
  std::string out =
      fmt::format("weights: {} parameters in {} tensors, {} as stored ({}), {} layers",
                  report::grouped_text(r.parameters), report::grouped_text(r.tensors),
                  size_text(r.bytes), types, r.layers);
  if (r.experts > 0) out += fmt::format(" of {} experts", r.experts);
  if (!r.counted_parameters) return out + '\n';
  if (*r.counted_parameters == r.decoder_parameters) {
    return out + "; as the configuration counts\n";
  }
  return out + fmt::format("; {} of the decoder, where the configuration counts {}\n",
                           report::grouped_text(r.decoder_parameters),
                           report::grouped_text(*r.counted_parameters));
}

std::string part_text(const CheckpointPart& part, const WeightsReport& r, const OperatorGraph& g) {
  const double of_bytes = as_double(part.bytes) / as_double(r.bytes);
  return fmt::format(
      "not priced: {}, {} parameters, {}: {} of the weights, and {} of the multiplications of a "
      "token that passes it\n",
      printable(part.name), report::grouped_text(part.parameters), size_text(part.bytes),
      report::percent_text(of_bytes), report::percent_text(left_out_share(part, g)));
}

}  // namespace

std::string weights_text(const StepPage& page) {
  if (!page.step.weights) return {};
  const WeightsReport& r = *page.step.weights;
  const OperatorGraph& g = page.step.graph;
  std::string out = stored_text(r);
  for (const CheckpointPart& part : r.parts) out += part_text(part, r, g);
  for (const std::string& text : r.differences) {
    out += "the weights are not the configuration's: " + printable(text) + '\n';
  }
  if (r.left_out > 0) {
    out +=
        fmt::format("the weights are not the configuration's in {} further tensors\n", r.left_out);
  }
  const std::int64_t stored = r.decoder_bytes(), priced = priced_bytes(g);
  constexpr double close = 0.005;
  if (std::abs(as_double(priced - stored)) > close * as_double(stored)) {
    out += fmt::format("weights are priced as {} in {}, and stored as {}\n", size_text(priced),
                       g.configuration.precision.name, size_text(stored));
  }
  if (r.absent_bytes > 0) {
    out += fmt::format(
        "the files end {} before their data does: headers alone, or a download that broke off\n",
        size_text(r.absent_bytes));
  }
  return out;
}

}  // namespace halmark::pages
