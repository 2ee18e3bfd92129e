// halmark compare-devices --model: who is ahead, then a line for each device.
#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.hpp"
#include "report/served_table.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/wrapped_text.hpp"
#include "tune/requests/model_on_devices.hpp"

namespace halmark::tune {
namespace {

using report::significant_text;

// What all sides are held to.
std::string levels_text(const ModelOnDevices& compared) {
  std::string out;
  for (const ServiceLevel& level : compared.sides.front().front.levels) {
    out += ", " + level_text(level);
  }
  if (!out.empty()) return out;
  const auto is_slow = [](const ModelOnDevice& side) {
    return objective_value(side.chosen(), Objective::interactivity).value_or(user_tokens_per_s) <
           user_tokens_per_s;
  };
  return std::ranges::any_of(compared.sides, is_slow)
             ? ", not on all with 20 tokens/s a user"
             : fmt::format(", {} tokens/s a user or more", user_tokens_per_s);
}

std::string verdict(const ModelOnDevices& compared) {
  const TokenRate& r = compared.ratio;
  const std::string &first = compared.sides[compared.first].device.id,
                    &second = compared.sides[compared.second].device.id;
  const std::string by = significant_text(r.per_s) + " times the tokens/s per device of " + second;
  if (compared.by_bounds) {
    return first + ": " + by + " at best: bounds decide, as not every device has a forecast";
  }
  const std::string interval =
      fmt::format(" ({}..{})", significant_text(r.low), significant_text(r.high));
  if (r.low <= 1) return "undecided: " + first + " has " + by + interval;
  return first + " is ahead: " + by + interval;
}

// "h200 as x256 t2048 fp8 tp8: 713 (582..815) tokens/s per device, TPOT ..."
std::string side_text(const ModelOnDevice& side) {
  const ServedEstimate& e = side.estimate();
  std::string out = fmt::format(
      "{} as {}: {} tokens/s per device, TPOT {}, TTFT {}", side.device.id,
      served_label(side.chosen().configuration),
      ranged_rate(e.figures.tokens_per_s_per_device, e.slow.tokens_per_s_per_device,
                  e.fast.tokens_per_s_per_device),
      report::duration_text(e.figures.tpot_ns), report::duration_text(e.figures.ttft_ns));
  const auto add = [&out](const std::optional<double>& value, const char* unit) {
    if (value) out += ", " + significant_text(*value) + unit;
  };
  add(e.figures.energy_j_per_token, " J/token");
  add(side.usd_per_million_tokens, " USD/M tokens");
  return out;
}

std::string settings_text(const ModelOnDevices& compared) {
  const Configuration& c = compared.sides.front().chosen().configuration;
  return fmt::format("{} on {} of each: requests of {} + {} tokens{}", c.model, c.devices(),
                     compared.request.input_tokens, compared.request.output_tokens,
                     levels_text(compared));
}

Json side_json(const ModelOnDevice& side) {
  Json out = side.estimate();
  out["device"] = side.device.id;
  out["deployment"] = side.chosen().configuration;
  out["point"] = side.pick.index + 1;
  out["because"] = side.pick.because;
  out["usd_per_million_tokens"] = optional_number(side.usd_per_million_tokens);
  return out;
}

}  // namespace

report::View model_on_devices_view(const ModelOnDevices& compared, int width) {
  report::View out{.data = {{"sides", Json::array()}}};
  const std::string first = verdict(compared);
  out.text = report::wrapped(first, width);
  for (const ModelOnDevice& side : compared.sides) {
    out.text += report::wrapped(side_text(side), width);
    out.data["sides"].push_back(side_json(side));
  }
  out.text += report::wrapped(settings_text(compared), width);
  std::vector<std::string> lines = {compared.assumed};
  for (const ModelOnDevice& side : compared.sides) {
    lines.push_back(side.device.id + ": " + side.pick.because);
  }
  lines.emplace_back(
      "J/token: at the stated power all the time, an upper end; USD: --price DEVICE=USD an hour");
  for (const ModelOnDevice& side : compared.sides) {
    for (const std::string& line : side.front.basis) {
      if (!line.starts_with("times:   ")) lines.push_back(side.device.id + ": " + line);
    }
  }
  out.text += '\n';
  for (const std::string& line : lines) {
    if (!line.empty()) out.text += report::wrapped(line, width);
  }
  out.data["ahead"] = {
      {"device", compared.sides[compared.first].device.id},
      {"of", compared.sides[compared.second].device.id},
      {"ratio", compared.ratio.per_s},
      {"ratio_interval", {compared.ratio.low, compared.ratio.high}},
      {"by_bounds", compared.by_bounds},
      {"is_decided", compared.by_bounds ? Json(nullptr) : Json(compared.ratio.low > 1)},
      {"text", first}};
  return out;
}

}  // namespace halmark::tune
