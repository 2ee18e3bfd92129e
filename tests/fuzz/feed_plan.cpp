// What people write: sweeps, spaces, devices and questions about them, options, expressions.
#include <stdexcept>

#include "expression/expression.hpp"
#include "feed.hpp"
#include "plan/device/device_lint.hpp"
#include "plan/device/device_query.hpp"
#include "plan/kernel_sweep.hpp"
#include "plan/param_grid.hpp"
#include "plan/shard_places.hpp"
#include "plan/space_file.hpp"
#include "search/space/space.hpp"
#include "survive.hpp"

namespace halmark::fuzz {
namespace {

std::vector<Device> two_devices() {
  return {{.id = "small",
           .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e12}},
           .bandwidths = {{.level = "memory", .bytes_per_s = 1e11}}},
          {.id = "bare"}};
}

}  // namespace

void feed_device(std::string_view text) {
  survive([&] {
    const DeviceFile file = parse_device_file(text, "device.toml");
    (void)lint_device(file, {});
    const std::string once = device_text(file.device);
    if (device_text(parse_device(once, "again.toml")) != once) {
      throw std::logic_error("a device does not survive its own text");
    }
  });
}

// Two lines: which devices, and in which order.
void feed_device_query(std::string_view text) {
  const std::size_t end = text.find('\n');
  DeviceQuery query{.where = std::string(text.substr(0, end))};
  if (end != text.npos) query.sort = text.substr(end + 1);
  survive([&] {
    if (select_devices(two_devices(), query).size() > 2) throw std::logic_error("more than all");
  });
}

void feed_sweep(std::string_view text) {
  survive([&] { (void)parse_sweep(text, "sweep.toml"); });
  survive([&] { (void)parse_kernel_sweep(text, "sweep.toml"); });
}

void feed_space(std::string_view text) {
  survive([&] { (void)Space(parse_space(text, "space.toml")); });
}

void feed_option(std::string_view text) {
  survive([&] { (void)parse_param_grid(text); });
  survive([&] { (void)parse_stages(std::string(text), "--stages"); });
  survive([&] { (void)parse_precision_overrides(text); });
  survive([&] {
    const auto places = parse_shard_places(text, "--shards-on");
    const std::string once = shard_places_text(places);
    if (shard_places_text(parse_shard_places(once, "again")) != once) {
      throw std::logic_error("places do not survive their own text");
    }
  });
}

// What holds for intervals holds for the values in them.
void feed_expression(std::string_view text) {
  static const std::vector<std::string> names = {"a", "b", "c"};
  static const std::map<std::string, ParamValue> facts = {{"devices", std::int64_t{8}},
                                                          {"vendor", std::string("x")}};
  static const ParamValue word = std::string("x");  // operands look at it
  survive([&] {
    const Expression expression(text, names, facts, "space.toml:1:1");
    const Operand wide = Operand::integers_between(-2, 5);
    const Operand interval[] = {wide, Operand::reals_between(-1, 2), Operand{}};
    Truth of_all = Truth::unknown;
    survive([&] { of_all = expression.evaluate(interval); });
    const Operand point[] = {Operand::of(std::int64_t{3}), Operand::of(0.5), Operand::of(word)};
    survive([&] {
      const Truth of_one = expression.evaluate(point);
      if (of_all != Truth::unknown && of_one != Truth::unknown && of_one != of_all) {
        throw std::logic_error("a value is not in its interval");
      }
    });
  });
}

}  // namespace halmark::fuzz
