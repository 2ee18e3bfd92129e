#include "tune/sizing/device_floor_view.hpp"

#include <fmt/format.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::tune {
namespace {

std::string rate(Ceiling ceiling, double value) {
  if (value <= 0) return report::absent_text;
  return ceiling == Ceiling::flops ? report::flops_text(value) : report::bandwidth_text(value);
}

std::string level_text(const DeviceFloor& floor, Ceiling ceiling) {
  const auto& level = floor.set_by[index(ceiling)];
  return level ? std::string(objective_name(*level)) : std::string(report::absent_text);
}

std::optional<double> some(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

Json floor_json(const DeviceFloor& f, const std::optional<Device>& device, const Rates& has) {
  Json ceilings = Json::array();
  for (const Ceiling c : all_ceilings) {
    const std::size_t i = index(c);
    ceilings.push_back(
        {{"name", ceiling_name(c)},
         {"unit", c == Ceiling::flops ? "FLOP/s" : "bytes/s"},
         {"alone", optional_number(some(f.alone[i]))},
         {"together", optional_number(some(f.together[i]))},
         {"set_by", f.set_by[i] ? Json(std::string(objective_name(*f.set_by[i]))) : Json(nullptr)},
         {"share", f.share[i]},
         {"device", optional_number(some(has[i]))}});
  }
  Json levels = json_list(f.question.levels, [](const ServiceLevel& level) -> Json {
    return {{"objective", objective_name(level.objective)}, {"limit", level.limit}};
  });
  return {{"model", f.model},
          {"dtype", f.dtype},
          {"request",
           {{"input_tokens", f.question.request.input_tokens},
            {"output_tokens", f.question.request.output_tokens},
            {"concurrency", f.question.concurrency},
            {"tp", f.question.tp}}},
          {"levels", std::move(levels)},
          {"ceilings", std::move(ceilings)},
          {"memory_bytes", f.memory_bytes},
          {"factor", f.factor},
          {"binding", ceiling_name(f.binding)},
          {"device", device ? Json(device->id) : Json(nullptr)},
          {"device_memory_bytes",
           device && device->memory_bytes > 0 ? Json(device->memory_bytes) : Json(nullptr)},
          {"basis", f.basis}};
}

}  // namespace

report::View device_floor_view(const DeviceFloor& f, const std::optional<Device>& device) {
  const Rates has = device ? rates_of(*device, *parse_dtype(f.dtype)) : Rates{};
  report::TextTable table({"floor of one device", "alone", "set by", "all together", "share",
                           device ? device->id : "device"},
                          {false, true, false, true, true, true});
  for (const Ceiling c : all_ceilings) {
    const std::size_t i = index(c);
    table.add({c == Ceiling::flops ? "FLOP/s in " + f.dtype : std::string(ceiling_name(c)),
               rate(c, f.alone[i]), level_text(f, c), rate(c, f.together[i]),
               f.alone[i] > 0 ? report::percent_text(f.share[i]) : report::absent_text,
               rate(c, has[i])});
  }
  const auto memory = static_cast<double>(f.memory_bytes);
  table.add({"memory", report::bytes_text(memory), "weights, cache", report::bytes_text(memory), "",
             device && device->memory_bytes > 0 ? report::bytes_text(device->memory_bytes)
                                                : std::string(report::absent_text)});
  std::string text = fmt::format("{}: {} request{} of {} + {} tokens at a time on {} device{}\n{}",
                                 printable(f.model), f.question.concurrency,
                                 f.question.concurrency == 1 ? "" : "s",
                                 f.question.request.input_tokens, f.question.request.output_tokens,
                                 f.question.tp, f.question.tp == 1 ? "" : "s", table.text());
  text += fmt::format(
      "{} binds: without its limit the narrowest level would be {} better\n"
      "alone: the other rates have no limit; all together: {} times that, because kernels wait for "
      "different ones\n"
      "a floor: every kernel at its peak and nothing between kernels; no device is as fast\n",
      ceiling_name(f.binding), report::percent_text(f.share[index(f.binding)]),
      report::significant_text(f.factor));
  for (const std::string& line : f.basis) text += printable(line) + '\n';
  return {.data = floor_json(f, device, has), .text = std::move(text)};
}

}  // namespace halmark::tune
