#include "plan/device/device_query.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "expression/expression.hpp"

namespace halmark {
namespace {

struct Figure {
  const char* name;
  const char* meaning;
  ParamValue (*of)(const Device&);  // null where the device states none
};

ParamValue number(std::optional<double> value) {
  return value && *value > 0 ? ParamValue(*value) : ParamValue(nullptr);
}

template <Dtype dtype>
ParamValue peak(const Device& device) {
  const auto found = device.peak(dtype, 0);
  return number(found ? std::optional(found->flops_per_s) : std::nullopt);
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> out = {
      {"id", "word", [](const Device& d) { return ParamValue(d.id); }},
      {"vendor", "word", [](const Device& d) { return ParamValue(d.vendor); }},
      {"kind", "word: gpu, cpu, npu, ...", [](const Device& d) { return ParamValue(d.kind); }},
      {"memory_bytes", "bytes", [](const Device& d) { return number(as_double(d.memory_bytes)); }},
      {"bandwidth", "of the memory, bytes/s",
       [](const Device& d) {
         const auto memory = d.bandwidth("memory", 0);
         return number(memory ? std::optional(memory->bytes_per_s) : std::nullopt);
       }},
      {"link", "to other devices, one direction, bytes/s",
       [](const Device& d) {
         return d.links.empty() ? ParamValue(nullptr) : number(d.links.front().bytes_per_s);
       }},
      {"domain", "devices that the link joins",
       [](const Device& d) {
         return d.links.empty() || !d.links.front().domain_devices
                    ? ParamValue(nullptr)
                    : number(as_double(*d.links.front().domain_devices));
       }},
      {"power_w", "W", [](const Device& d) { return number(d.power_w); }},
      {"usd_per_hour", "US dollars an hour",
       [](const Device& d) { return number(d.usd_per_hour); }},
      {"fp64", "FLOP/s", peak<Dtype::f64>},
      {"fp32", "FLOP/s", peak<Dtype::f32>},
      {"tf32", "FLOP/s", peak<Dtype::tf32>},
      {"bf16", "FLOP/s", peak<Dtype::bf16>},
      {"fp16", "FLOP/s", peak<Dtype::f16>},
      {"fp8", "FLOP/s", peak<Dtype::f8_e4m3fn>},
      {"fp4", "FLOP/s", peak<Dtype::f4_e2m1>},
      {"int8", "OP/s", peak<Dtype::s8>},
  };
  return out;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Figure& figure : figures()) out.emplace_back(figure.name);
  return out;
}

bool fits(const Device& device, const Expression& expression) {
  std::vector<ParamValue> values =
      mapped(figures(), [&](const Figure& figure) { return figure.of(device); });
  std::vector<Operand> operands;
  for (const ParamValue& value : values) {
    // What is not stated is not known: neither small nor large.
    operands.push_back(std::holds_alternative<std::nullptr_t>(value) ? Operand{}
                                                                     : Operand::of(value));
  }
  return expression.evaluate(operands) == Truth::yes;
}

bool comes_before(const ParamValue& a, const ParamValue& b) {
  if (std::holds_alternative<std::string>(a)) {
    return std::get<std::string>(a) < std::get<std::string>(b);
  }
  const auto* const x = std::get_if<double>(&a);
  const auto* const y = std::get_if<double>(&b);
  return x != nullptr && (y == nullptr || *x > *y);
}

}  // namespace

std::vector<DeviceFigureName> device_figures() {
  std::vector<DeviceFigureName> out;
  for (const Figure& figure : figures()) out.push_back({figure.name, figure.meaning});
  return out;
}

std::vector<Device> select_devices(std::vector<Device> devices, const DeviceQuery& query) {
  const auto sorted_by = std::ranges::find(figures(), query.sort, &Figure::name);
  if (!query.sort.empty() && sorted_by == figures().end()) {
    throw refused("'" + query.sort + "' is no figure of devices", "--sort",
                  suggestion(query.sort, names()));
  }
  if (!query.where.empty()) {
    const Expression expression(query.where, names(), {}, "--where");
    std::erase_if(devices, [&](const Device& device) { return !fits(device, expression); });
  }
  if (sorted_by != figures().end()) {
    std::ranges::stable_sort(devices, [&](const Device& a, const Device& b) {
      return comes_before(sorted_by->of(a), sorted_by->of(b));
    });
  }
  return devices;
}

}  // namespace halmark
