#include "measure/campaign/gate/correctness.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/text.hpp"
#include "measure/campaign/gate/element_choice.hpp"
#include "measure/campaign/gate/matmul_check.hpp"
#include "measure/campaign/gate/output_scan.hpp"

namespace halmark {
namespace {

CorrectnessResult failed(Status status, std::string reason) {
  return {.ok = false, .status = status, .reason = std::move(reason), .correctness = {}};
}

// "dst[3, 17]": an element by its indices, because that is how a person looks for the bug.
std::string element_name(const OperandSpec& output, std::int64_t element) {
  std::string indices;
  for (std::size_t d = output.dims.size(); d-- > 0;) {
    const std::int64_t length = std::max<std::int64_t>(1, output.dims[d]);
    indices = std::to_string(element % length) + (indices.empty() ? "" : ", ") + indices;
    element /= length;
  }
  return output.name + "[" + indices + "]";
}

// One output operand of one set, with everything needed to judge it.
struct OutputPart {
  const OpContract& contract;
  const Params& params;
  const OperandSpec& spec;
  std::size_t operand;
  int rank;
  int set;
  std::span<const std::byte> bytes;

  double value(std::int64_t element) const {
    return load_element(spec.dtype, bytes.data(), element);
  }
  std::string name(std::int64_t element) const {
    return element_name(spec, element) + " of set " + std::to_string(set) +
           (contract.is_collective() ? " on rank " + std::to_string(rank) : "");
  }
};

// Ratio of error and tolerance. An exact element that differs counts as error + 1, so that every
// miss is above 1 and finite.
double error_ratio(double value, const Expected& expected) {
  if (value == expected.value) return 0;
  const double error = std::abs(value - expected.value);
  if (expected.tolerance > 0) return std::min(error / expected.tolerance, 1e300);
  return std::min(error + 1, 1e300);
}

struct Compared {
  std::int64_t checked = 0;
  double worst_ratio = 0;
  std::int64_t worst_element = 0;
  Expected worst_expected;
  double tolerance_max = 0;
};

void compare(const OutputPart& part, const InputReader& inputs,
             std::span<const std::int64_t> elements, Compared& compared) {
  constexpr std::size_t block = 4096;
  std::vector<Expected> expected;
  for (std::size_t start = 0; start < elements.size(); start += block) {
    const auto some = elements.subspan(start, std::min(block, elements.size() - start));
    expected.assign(some.size(), {});
    part.contract.reference(part.params, inputs, part.rank, part.operand, some, expected);
    for (const auto i : indices(some)) {
      const double ratio = error_ratio(part.value(some[i]), expected[i]);
      compared.tolerance_max = std::max(compared.tolerance_max, expected[i].tolerance);
      if (ratio <= compared.worst_ratio) continue;
      compared.worst_ratio = ratio;
      compared.worst_element = some[i];
      compared.worst_expected = expected[i];
    }
  }
  compared.checked += std::ssize(elements);
}

std::optional<CorrectnessResult> scan(const OutputPart& part) {
  const OutputFinding finding = scan_output(part.spec.dtype, part.bytes);
  switch (finding.defect) {
    case OutputDefect::none:
      return std::nullopt;
    case OutputDefect::unwritten:
      return failed(Status::wrong_result, part.name(finding.element) + " was never written");
    case OutputDefect::not_a_number:
      return failed(Status::nan_result, part.name(finding.element) + " is NaN");
    case OutputDefect::infinite:
      return failed(Status::nan_result, part.name(finding.element) + " is infinite");
  }
  return std::nullopt;
}

// Elements to compare, and the words for them.
struct Choice {
  std::vector<std::int64_t> elements;
  std::string method;
};

void append_line(std::vector<std::int64_t>& elements, std::int64_t first, std::int64_t stride,
                 std::int64_t length, std::int64_t length_max, std::uint64_t random) {
  const std::int64_t taken = std::min(length, length_max);
  const auto start = as_int64(uniform_below(random, as_uint64(length - taken + 1)));
  for (const std::int64_t i : below(taken)) elements.push_back(first + (start + i) * stride);
}

// Two rows and two columns at random places; longer than the budget allows, a stretch of them.
void add_lines(const OpContract::Matmul& matmul, const CheckPlan& plan, Choice& choice) {
  const double line_flops = plan.reference_flops_max / 4;
  const auto length_max =
      std::max<std::int64_t>(16, as_int64(line_flops / (2.0 * as_double(matmul.k))));
  const std::uint64_t seed = hash_combine(plan.seed, 0x6c696e65);
  for (const std::uint64_t line : below(2)) {
    const auto row = as_int64(uniform_below(hash_u64(seed, 4 * line), as_uint64(matmul.m)));
    const auto column = as_int64(uniform_below(hash_u64(seed, 4 * line + 1), as_uint64(matmul.n)));
    append_line(choice.elements, row * matmul.n, 1, matmul.n, length_max,
                hash_u64(seed, 4 * line + 2));
    append_line(choice.elements, column, matmul.n, matmul.m, length_max,
                hash_u64(seed, 4 * line + 3));
  }
  const bool is_cut = std::max(matmul.m, matmul.n) > length_max;
  choice.method += is_cut
                       ? ", 2 rows and 2 columns (stretches of " + std::to_string(length_max) + ")"
                       : ", 2 rows, 2 columns";
}

Choice choose_elements(const OutputPart& part, const CheckPlan& plan,
                       const std::optional<OpContract::Matmul>& matmul) {
  const OutputShape shape = output_shape(part.spec);
  const ReferenceCost cost = reference_cost(part.contract, part.params, shape);
  const double groups = as_double(cost.groups_are_rows ? shape.rows : shape.elements());
  const bool is_small = shape.elements() <= plan.small_output_elements &&
                        groups * cost.per_group <= plan.reference_flops_max;
  Choice choice;
  if (plan.every_element || is_small) {
    choice.elements.resize(as_size(shape.elements()));
    for (const auto i : indices(choice.elements)) {
      choice.elements[i] = as_int64(i);
    }
    choice.method = "every element";
    return choice;
  }
  const auto affordable = as_int64(plan.reference_flops_max / cost.per_group);
  const std::int64_t groups_max = std::clamp<std::int64_t>(affordable, 4, plan.random_elements);
  const std::int64_t rows_max = cost.groups_are_rows ? groups_max : plan.random_elements;
  choice.elements = random_elements(shape, plan.random_elements, rows_max, plan.seed);
  choice.method = std::to_string(choice.elements.size()) + " random elements";
  if (plan.tile_corners) {
    const auto corners =
        tile_corners(shape, cost.groups_are_rows ? std::max<std::int64_t>(2, groups_max / 4) : 16);
    append_all(choice.elements, corners);
    choice.method += ", " + std::to_string(corners.size()) + " tile corners";
  }
  if (plan.lines_and_freivalds && matmul) add_lines(*matmul, plan, choice);
  std::ranges::sort(choice.elements);
  choice.elements.erase(std::ranges::unique(choice.elements).begin(), choice.elements.end());
  return choice;
}

std::optional<CorrectnessResult> check_freivalds(const OutputPart& part, const InputReader& inputs,
                                                 const OpContract::Matmul& matmul,
                                                 double tolerance_max, std::uint64_t seed) {
  const auto output_row = [&](std::int64_t row, std::span<double> out) {
    for (const auto j : indices(out)) {
      out[j] = part.value(row * matmul.n + as_int64(j));
    }
  };
  // Tolerances follow |ref| and |A||B|, which vary little between elements: twice the largest one
  // that was seen covers the rest.
  const auto miss = freivalds(matmul, inputs, part.rank, output_row, 2 * tolerance_max,
                              hash_combine(seed, 0x66726569));
  if (!miss) return std::nullopt;
  return failed(Status::wrong_result, "freivalds: row " + std::to_string(miss->row) + " of " +
                                          part.spec.name + " sums to " + number_text(miss->output) +
                                          ", expected " + number_text(miss->product) + " +- " +
                                          number_text(miss->tolerance));
}

CorrectnessResult check_part(const OutputPart& part, const InputReader& inputs,
                             const CheckPlan& plan) {
  if (auto finding = scan(part)) return *finding;
  const auto matmul = part.contract.as_matmul(part.params);
  const Choice choice = choose_elements(part, plan, matmul);
  Compared compared;
  compare(part, inputs, choice.elements, compared);
  CorrectnessResult result{
      .ok = compared.worst_ratio <= 1,
      .status = Status::ok,
      .reason = {},
      .correctness = {"poison scan, " + choice.method, compared.checked, compared.worst_ratio}};
  if (!result.ok) {
    result.status = Status::wrong_result;
    result.reason = part.name(compared.worst_element) + " is " +
                    number_text(part.value(compared.worst_element)) + ", expected " +
                    number_text(compared.worst_expected.value) + " +- " +
                    number_text(compared.worst_expected.tolerance);
    return result;
  }
  const bool all_compared = std::ssize(choice.elements) == part.spec.elements();
  if (!plan.lines_and_freivalds || !matmul || matmul->c != part.operand || all_compared) {
    return result;
  }
  const std::int64_t read = matmul->m * matmul->k + matmul->k * matmul->n + matmul->m * matmul->n;
  if (read > plan.freivalds_elements_max) {
    result.correctness.method +=
        ", no freivalds above " + std::to_string(plan.freivalds_elements_max) + " elements";
    return result;
  }
  if (auto miss = check_freivalds(part, inputs, *matmul, compared.tolerance_max, plan.seed)) {
    miss->correctness = result.correctness;
    return *miss;
  }
  result.correctness.method += ", freivalds";
  return result;
}

std::optional<CorrectnessResult> find_damage(const protocol::Revealed& revealed) {
  if (!revealed.inputs_intact) {
    return failed(Status::wrong_result, "the kernel mutated its inputs: " + revealed.damage);
  }
  if (!revealed.canaries_intact) {
    return failed(Status::wrong_result, "the kernel wrote out of bounds: " + revealed.damage);
  }
  if (revealed.parts.empty()) return failed(Status::wrong_result, "no output was revealed");
  return std::nullopt;
}

// The bytes of a part, or why it cannot be one: offsets come from another process.
std::optional<std::string> misfit(const protocol::RevealedPart& part,
                                  std::span<const OperandSpec> operands, std::size_t available) {
  if (part.operand < 0 || part.operand >= std::ssize(operands)) {
    return "a revealed part names operand " + std::to_string(part.operand);
  }
  const OperandSpec& spec = operands[as_size(part.operand)];
  if (spec.role != Role::output && spec.role != Role::in_out) {
    return "revealed operand " + spec.name + " is no output";
  }
  if (part.bytes != spec.bytes()) {
    return "revealed " + spec.name + " has " + std::to_string(part.bytes) + " bytes, expected " +
           std::to_string(spec.bytes());
  }
  const auto size = as_int64(available);
  if (part.offset < 0 || part.offset > size || part.bytes > size - part.offset) {
    return "revealed " + spec.name + " lies outside its memory";
  }
  return std::nullopt;
}

void merge(CorrectnessResult& total, const CorrectnessResult& part) {
  total.correctness.checked += part.correctness.checked;
  total.correctness.worst_ratio =
      std::max(total.correctness.worst_ratio, part.correctness.worst_ratio);
  if (total.correctness.method.empty()) total.correctness.method = part.correctness.method;
}

}  // namespace

CheckPlan every_element_plan() {
  CheckPlan plan;
  plan.every_element = true;
  return plan;
}

CheckPlan after_loop_plan(std::uint64_t seed) {
  CheckPlan plan;
  plan.seed = seed;
  plan.random_elements = 64;
  plan.tile_corners = false;
  plan.small_output_elements = 64;
  plan.reference_flops_max = 4e6;
  return plan;
}

CorrectnessResult check_outputs(const OpContract& contract, const Problem& problem,
                                StagedInputs& inputs, int rank, const RevealedOutputs& outputs,
                                const CheckPlan& plan) {
  if (auto damage = find_damage(outputs.revealed)) return *damage;
  const std::vector<OperandSpec> operands = contract.operands(problem.params);
  CorrectnessResult total{.ok = true, .status = Status::ok, .reason = {}, .correctness = {}};
  for (const protocol::RevealedPart& part : outputs.revealed.parts) {
    if (const auto reason = misfit(part, operands, outputs.bytes.size())) {
      return failed(Status::wrong_result, *reason);
    }
    const auto operand = as_size(part.operand);
    inputs.set_index(part.set);
    const OutputPart output{contract,
                            problem.params,
                            operands[operand],
                            operand,
                            rank,
                            part.set,
                            outputs.bytes.subspan(as_size(part.offset), as_size(part.bytes))};
    const CorrectnessResult result = check_part(output, inputs, plan);
    merge(total, result);
    if (!result.ok) {
      total.ok = false;
      total.status = result.status;
      total.reason = result.reason;
      return total;
    }
  }
  return total;
}

CorrectnessResult check_outputs(const OpContract& contract, const Problem& problem,
                                std::uint64_t input_seed, int rank, CacheMode mode,
                                bool constants_shared, const RevealedOutputs& outputs,
                                const CheckPlan& plan) {
  StagedInputs inputs(input_seed, contract.operands(problem.params), mode, constants_shared);
  return check_outputs(contract, problem, inputs, rank, outputs, plan);
}

}  // namespace halmark
