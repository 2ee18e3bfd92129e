// Problems with a region in which every trial fails, and which no constraint states. Objectives
// improve towards that region or inside of it, because this is where a search that does not learn
// from failures goes again and again.
#include <cmath>

#include "core/numeric/random.hpp"
#include "problem.hpp"

namespace halmark::problems {
namespace {

SearchDomain unit_interval(const std::string& name) {
  return {.name = name, .kind = DomainKind::real, .low = 0, .high = 1};
}

SearchDomain integers(const std::string& name, double low, double high) {
  return {.name = name, .kind = DomainKind::integer, .low = low, .high = high};
}

SearchDomain powers(const std::string& name, std::int64_t low, std::int64_t high) {
  SearchDomain out{.name = name, .kind = DomainKind::ordinal};
  for (std::int64_t v = low; v <= high; v *= 2) out.values.emplace_back(v);
  return out;
}

SearchDomain words(const std::string& name, std::vector<ParamValue> values) {
  return {.name = name, .values = std::move(values)};
}

Told failed(const Point& x, const char* reason) {
  return {.point = x, .outcome = TrialOutcome::failed, .reason = reason};
}

// A ball of 9 % of the square around the optimum.
Problem ball() {
  Problem out{.name = "failing_ball"};
  out.description.domains = {unit_interval("x"), unit_interval("y")};
  out.description.objectives = {{"time", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const double squares = std::pow(x[0] - 0.7, 2) + std::pow(x[1] - 0.3, 2);
    if (squares < 0.09 / 3.141592653589793) return failed(x, "crash");
    return {.point = x, .objectives = {1 + squares}};
  };
  return out;
}

// Shared memory: larger tiles and more stages are faster, until they do not fit any more.
Problem tiles() {
  Problem out{.name = "failing_tiles"};
  out.description.domains = {
      powers("tile_m", 16, 256), powers("tile_n", 16, 256), integers("stages", 1, 6),
      words("dtype", {ParamValue("fp32"), ParamValue("bf16"), ParamValue("fp8")}),
      words("swizzle", {ParamValue("none"), ParamValue("xor"), ParamValue("row")})};
  out.description.objectives = {{"time", "", false}, {"error", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const double m = std::ldexp(16, static_cast<int>(x[0]));
    const double n = std::ldexp(16, static_cast<int>(x[1]));
    const double bytes = std::ldexp(4, -static_cast<int>(x[3])), stages = x[2] + 1;
    if ((m + n) * 32 * bytes * stages > 100'000) return failed(x, "out of shared memory");
    const double reuse = m * n / (m + n);
    const double time = 50 * bytes / reuse + 1 / stages + 0.1 * std::abs(x[4] - 1) + 0.2 * bytes;
    return {.point = x, .objectives = {time, std::ldexp(1, static_cast<int>(2 * x[3])) + 3 / n}};
  };
  return out;
}

// A corner is cut off; both objectives improve towards it.
Problem corner() {
  Problem out{.name = "failing_corner"};
  for (const char* name : {"a", "b", "c", "d"}) {
    out.description.domains.push_back(unit_interval(name));
  }
  out.description.objectives = {{"time", "", false}, {"energy", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    if (x[0] + x[1] > 1.45) return failed(x, "device lost");
    const double waste = std::pow(x[2] - 0.4, 2) + std::pow(x[3] - 0.8, 2);
    return {.point = x,
            .objectives = {3 - x[0] - 0.5 * x[1] + waste, 3 - x[1] - 0.5 * x[0] + 2 * waste}};
  };
  return out;
}

// Deep pipelines fail for large batches; a parameter that only they have.
Problem pipeline() {
  Problem out{.name = "failing_pipeline"};
  out.description.domains = {
      words("strategy", {ParamValue("data"), ParamValue("tensor"), ParamValue("pipeline")}),
      integers("stages", 1, 16), integers("batch", 1, 64), integers("threads", 1, 16)};
  out.description.domains[1].when = "strategy == 'pipeline'";
  out.description.objectives = {{"time", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const bool is_pipeline = x[0] == 2;
    const double stages = is_pipeline ? x[1] + 1 : 1, batch = x[2] + 1, threads = x[3] + 1;
    if (is_pipeline && stages * batch > 350) return failed(x, "out of memory");
    if (!is_pipeline && batch * threads > 600) return failed(x, "out of memory");
    return {.point = x,
            .objectives = {100 / batch + 10 / stages + 8 / threads + (x[0] == 1 ? 0.5 : 1)}};
  };
  return out;
}

// Cells of two parameters that fail without a pattern, one in eight; the rest is a bowl.
Problem cells() {
  Problem out{.name = "failing_cells"};
  out.description.domains = {integers("a", 0, 9), integers("b", 0, 9), integers("c", 0, 31),
                             unit_interval("x")};
  out.description.objectives = {{"time", "", false}, {"memory", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const auto cell = static_cast<std::uint64_t>(10 * x[0] + x[1]);
    if (uniform_01(hash_u64(0xce11, cell)) < 0.125) return failed(x, "wrong result");
    const double a = x[0] - 6, b = x[1] - 3, c = (x[2] - 20) / 8;
    return {.point = x,
            .objectives = {a * a + b * b + c * c + x[3], (x[0] + x[1]) + 4 * (1 - x[3])}};
  };
  return out;
}

// Six dimensions, three objectives: everything beyond a slanted plane fails, a quarter of the cube.
Problem plane() {
  Problem out{.name = "failing_plane"};
  for (int i = 1; i <= 6; ++i) {
    out.description.domains.push_back(unit_interval("x" + std::to_string(i)));
  }
  out.description.objectives = {{"time", "", false}, {"energy", "", false}, {"memory", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    if (x[0] + 0.7 * x[1] - 0.5 * x[2] > 0.88) return failed(x, "timed out");
    const double waste = std::pow(x[3] - 0.5, 2) + std::pow(x[4] - 0.2, 2) + 0.1 * x[5];
    return {.point = x, .objectives = {1 - x[0] + waste, 1 - x[1] + waste, x[2] + waste}};
  };
  return out;
}

// A corner of 7 % of the space holds the front, and two of five configurations in it fail without a
// pattern; nothing else fails.
Problem pocket() {
  Problem out{.name = "failing_pocket"};
  out.description.domains = {integers("a", 0, 9), integers("b", 0, 9), integers("c", 0, 9),
                             words("kind", {ParamValue("x"), ParamValue("y"), ParamValue("z")}),
                             integers("d", 0, 4)};
  out.description.objectives = {{"time", "", false}, {"memory", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const bool is_in = x[0] >= 7 && x[1] >= 6;
    std::uint64_t cell = 0x90c;
    for (int d = 0; d < 4; ++d) cell = hash_combine(cell, static_cast<std::uint64_t>(x[d]));
    if (is_in && uniform_01(cell) < 0.4) return failed(x, "wrong result");
    const double time = 30 - x[0] - x[1] - (is_in ? 6 : 0) + 0.5 * std::abs(x[2] - 5) + x[3];
    return {.point = x, .objectives = {time, time / 2 + x[4] + 0.3 * x[2]}};
  };
  return out;
}

// The slow fifth fails, far from what is fast.
Problem slow_corner() {
  Problem out{.name = "failing_slow_corner"};
  out.description.domains = {powers("tile_m", 16, 256), powers("tile_n", 16, 256),
                             powers("unroll", 1, 8), integers("stages", 1, 4),
                             powers("threads", 64, 512)};
  out.description.objectives = {{"time", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    if (x[0] + x[1] + x[3] > 7.5) return failed(x, "out of shared memory");
    return {.point = x,
            .objectives = {10 + std::pow(x[0] - 1, 2) + std::pow(x[1] - 2, 2) + x[3] / 2 +
                           std::abs(x[2] - 2) + std::abs(x[4] - 1)}};
  };
  return out;
}

}  // namespace

Problem failures_at_the_front() { return pocket(); }

Problem failures_far_from_the_front() { return slow_corner(); }

std::vector<Problem> hidden_failures_to_tune_on() { return {ball(), tiles(), cells()}; }

std::vector<Problem> hidden_failures_to_confirm_on() { return {corner(), pipeline(), plane()}; }

}  // namespace halmark::problems
