// halmark compare-devices --model: who is ahead, then a row for each device.
#include <fmt/format.h>

#include "core/json/json.hpp"
#include "model/step/step_json.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"
#include "tune/requests/model_on_devices.hpp"

namespace halmark::tune {
namespace {

using report::four_digits_text;
using report::significant_text;

const std::string& name_of(const ModelOnDevices& compared, std::size_t side) {
  return compared.sides[side].step.device->id;
}

std::string verdict(const ModelOnDevices& compared) {
  const TokenRate& r = compared.ratio;
  const std::string &first = name_of(compared, compared.first),
                    &second = name_of(compared, compared.second);
  const std::string by = significant_text(r.per_s) + " times the tokens/s of " + second;
  if (compared.by_bounds) {
    return first + ": " + by + " at best: bounds decide, as not every device has a forecast";
  }
  const std::string interval =
      fmt::format(" ({}..{})", significant_text(r.low), significant_text(r.high));
  if (r.low <= 1) return "undecided: " + first + " has " + by + interval;
  return first + " is ahead: " + by + interval;
}

std::string rate_text(const StepAnswer& a) {
  std::string out = four_digits_text(a.rate->per_s);
  if (a.rate->low >= a.rate->high) return out;
  return out +
         fmt::format(" ({}..{})", four_digits_text(a.rate->low), four_digits_text(a.rate->high));
}

std::string text_of(const std::optional<double>& value) {
  return value ? significant_text(*value) : report::absent_text;
}

std::string settings_text(const PricedStep& step) {
  const Configuration& c = step.graph.configuration;
  return fmt::format("{} in {} on {} of each: {} batch {} context {}, each with its fastest layout",
                     c.model, c.precision.name, c.devices(), phase_name(c.workload.phase),
                     c.workload.batch, c.workload.context);
}

Json side_json(const ModelOnDevice& side) {
  Json out = {{"device", side.step.device->id},
              {"deployment", side.step.graph.configuration},
              {"energy_j_per_token", optional_number(side.joule_per_token)},
              {"usd_per_million_tokens", optional_number(side.usd_per_million_tokens)}};
  out.update(answer_json(side.step));
  return out;
}

}  // namespace

report::View model_on_devices_view(const ModelOnDevices& compared, int width) {
  report::TextTable table(
      {"device", "layout", "step", "tokens/s", "at best", "J/token", "USD/M tokens", "memory"},
      {false, false, true, true, true, true, true, true});
  report::View out{.data = {{"sides", Json::array()}}};
  for (const ModelOnDevice& side : compared.sides) {
    const StepAnswer& a = side.answer;
    table.add({side.step.device->id, side.step.graph.configuration.parallel.text(),
               report::duration_text(*a.ns), rate_text(a),
               a.best_rate ? four_digits_text(*a.best_rate) : report::absent_text,
               text_of(side.joule_per_token), text_of(side.usd_per_million_tokens),
               report::bytes_text(static_cast<double>(side.step.memory_bytes()))});
    out.data["sides"].push_back(side_json(side));
  }
  const std::string first = verdict(compared);
  out.text = report::wrapped(first, width) +
             report::wrapped(settings_text(compared.sides.front().step), width) + '\n' +
             table.text(width) +
             report::wrapped(
                 "J/token: at the stated power all the time, an upper end; USD: --price "
                 "DEVICE=USD an hour",
                 width);
  for (const ModelOnDevice& side : compared.sides) {
    for (const std::string& line : side.step.basis) {
      out.text += report::wrapped(side.step.device->id + ": " + line, width);
    }
  }
  out.data["ahead"] = {
      {"device", name_of(compared, compared.first)},
      {"of", name_of(compared, compared.second)},
      {"ratio", compared.ratio.per_s},
      {"ratio_interval", {compared.ratio.low, compared.ratio.high}},
      {"by_bounds", compared.by_bounds},
      {"is_decided", compared.by_bounds ? Json(nullptr) : Json(compared.ratio.low > 1)},
      {"text", first}};
  return out;
}

}  // namespace halmark::tune
