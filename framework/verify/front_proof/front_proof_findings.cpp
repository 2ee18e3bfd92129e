#include "verify/front_proof/front_proof_findings.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/lists.hpp"
#include "verify/front_proof/front_proof_values.hpp"

namespace halmark::front_proof {

std::size_t domain_of(const Proof& proof, const std::string& name) {
  auto names = mapped(proof.domains, &Domain::name);
  return named(name, names);
}

Range range_of(const Json& pair) {
  if (pair.size() != 2) throw std::invalid_argument("an interval is not two numbers");
  return {value_of<double>(pair.at(0)), value_of<double>(pair.at(1))};
}

namespace {

std::vector<Range> ranges_of(const Json& list) {
  return mapped(list, [&](const Json& pair) { return range_of(pair); });
}

// A bound may be -infinity (nothing is known), a gap infinity (nothing was evaluated).
Bound bound_of(const Json& json) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Bound out;
  for (const Json& value : json.at("bound")) out.values.push_back(number_or(value, -infinity));
  if (json.contains("by")) out.by = field<std::uint64_t>(json, "by");
  if (json.contains("gap")) out.gap = number_or(json.at("gap"), infinity);
  return out;
}

}  // namespace

Alarm alarm_of(const Json& r, std::size_t line) {
  return {.line = line,
          .kernel = field<std::size_t>(r, "kernel"),
          .peak = field<std::size_t>(r, "peak"),
          .low = field<double>(r, "low"),
          .bound = field<double>(r, "bound"),
          .peak_before = field<double>(r, "peak_before"),
          .peak_after = field<double>(r, "peak_after")};
}

Leaf leaf_of(const Proof& proof, const Json& r, std::size_t line) {
  Leaf out{.line = line, .configurations = field<std::uint64_t>(r, "configurations")};
  for (const auto& [name, level] : r.at("box").items()) {
    out.box[domain_of(proof, name)] = value_of<std::size_t>(level);
  }
  const auto read_bounds = [&](const char* name) {
    for (const Json& b : r.at(name)) out.bounds.push_back(bound_of(b));
  };
  if (r.contains("constraint")) {
    out.kind = Leaf::Kind::constraint;
    out.constraints = field<std::vector<std::size_t>>(r, "constraint");
  } else if (r.contains("failed")) {
    out.kind = Leaf::Kind::failed;
    out.kernel = field<std::size_t>(r, "failed");
  } else if (r.contains("dominated")) {
    out.kind = Leaf::Kind::dominated;
    read_bounds("dominated");
    if (r.contains("cut")) out.cut = domain_of(proof, field<std::string>(r, "cut"));
  } else if (r.contains("evaluated")) {
    out.kind = Leaf::Kind::evaluated;
    out.interval = ranges_of(r.at("evaluated"));
  } else {
    read_bounds("open");
  }
  return out;
}

FrontPoint front_point_of(const Json& r, std::size_t line) {
  FrontPoint out{.line = line,
                 .front = field<std::size_t>(r, "front"),
                 .config = field<std::uint64_t>(r, "config"),
                 .interval = ranges_of(r.at("interval")),
                 .kernels = field<std::vector<std::size_t>>(r, "kernels"),
                 .is_certain = is_first(r.at("class"), "certain", "possible")};
  if (!r.contains("run")) return out;
  out.run = range_of(r.at("run").at("interval"));
  out.run_value = field<double>(r.at("run"), "value");
  return out;
}

Trailer trailer_of(const Json& r, std::size_t line) {
  return {.line = line,
          .state = field<std::string>(r, "state"),
          .sha256 = field<std::string>(r, "sha256"),
          .configurations = field<std::uint64_t>(r, "configurations"),
          .evaluated = field<std::uint64_t>(r, "evaluated"),
          .dominated = field<std::uint64_t>(r, "dominated"),
          .failed = field<std::uint64_t>(r, "failed"),
          .open = field<std::uint64_t>(r, "open"),
          .kernels = field<std::uint64_t>(r, "kernels"),
          .kernels_measured = field<std::uint64_t>(r, "kernels_measured"),
          .alarms = field<std::uint64_t>(r, "alarms"),
          .gap = number_or(r.at("gap"), std::numeric_limits<double>::infinity()),
          .composition_confirmed = field<bool>(r, "composition_confirmed")};
}

}  // namespace halmark::front_proof
