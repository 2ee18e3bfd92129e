// A copy that equals the accepted output bit by bit costs a memcmp; the reference is asked for what
// differs, the largest differences first, and for a few elements of each changed row.
#include "measure/campaign/gate/kept_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/text.hpp"
#include "measure/campaign/gate/changed_inputs.hpp"
#include "measure/campaign/gate/element_choice.hpp"
#include "measure/campaign/gate/output_scan.hpp"

namespace halmark {
namespace {

constexpr std::size_t differing_elements_max = 64;
constexpr std::int64_t row_elements_max = 16;
constexpr double row_flops_max = 0.7e6;

// A stretch of an output.
struct Stretch {
  const OperandSpec& spec;
  std::size_t operand;
  std::int64_t first;  // element
  std::span<const std::byte> bytes;
  std::int64_t element_bytes() const { return dtype_bits(spec.dtype) / 8; }
  std::int64_t count() const {
    return std::ssize(bytes) / std::max<std::int64_t>(1, element_bytes());
  }
  double value(std::int64_t i) const { return load_element(spec.dtype, bytes.data(), i); }
};

class KeptCheck {
 public:
  KeptCheck(const OpContract& contract, const Problem& problem, StagedInputs& inputs, int rank)
      : contract_(contract),
        problem_(problem),
        operands_(contract.operands(problem.params)),
        inputs_(inputs),
        rank_(rank) {}

  const std::vector<OperandSpec>& operands() const { return operands_; }
  const CorrectnessResult& result() const { return result_; }

  bool fail(Status status, std::string reason) {
    result_ = {.ok = false, .status = status, .reason = std::move(reason), .correctness = {}};
    return false;
  }

  std::string name(const Stretch& stretch, std::int64_t i, int set) const {
    std::int64_t element = stretch.first + i;
    std::string indices;
    for (std::size_t d = stretch.spec.dims.size(); d-- > 0;) {
      const std::int64_t length = std::max<std::int64_t>(1, stretch.spec.dims[d]);
      indices = std::to_string(element % length) + (indices.empty() ? "" : ", ") + indices;
      element /= length;
    }
    return stretch.spec.name + "[" + indices + "] of set " + std::to_string(set) +
           (contract_.is_collective() ? " on rank " + std::to_string(rank_) : "");
  }

  // Poison that is left. `when` says what the execution was.
  bool is_written(const Stretch& stretch, int set, const std::string& when) {
    const OutputFinding found = scan_output(stretch.spec.dtype, stretch.bytes);
    if (found.defect == OutputDefect::none) return true;
    const std::string what = name(stretch, found.element, set);
    if (found.defect == OutputDefect::unwritten) {
      return fail(Status::wrong_result, what + " was not written " + when);
    }
    return fail(Status::nan_result, what + " is not finite " + when);
  }

  // Both stretches begin at the same element.
  bool equals(const Stretch& kept, const Stretch& first, int set, const std::string& when) {
    if (std::memcmp(kept.bytes.data(), first.bytes.data(), kept.bytes.size()) == 0) return true;
    if (!is_written(kept, set, when)) return false;
    const std::vector<std::int64_t> differing = largest_differences(kept, first);
    const std::vector<Expected> expected = reference(inputs_, kept, differing);
    for (const auto e : indices(differing)) {
      const double value = kept.value(differing[e]), accepted = first.value(differing[e]);
      if (std::abs(value - accepted) <= 2 * expected[e].tolerance) continue;
      return fail(Status::wrong_result, name(kept, differing[e], set) + " is " +
                                            number_text(value) + " " + when + ", and was " +
                                            number_text(accepted) + " when it was checked");
    }
    return true;
  }

  bool agrees(const Stretch& kept, int set, const protocol::OverwrittenRow& row, std::uint64_t seed,
              const std::string& when) {
    if (!is_written(kept, set, when)) return false;
    const ChangedInputs changed(inputs_, operands_, row);
    const std::vector<std::int64_t> elements = some_of(kept, seed);
    const std::vector<Expected> expected = reference(changed, kept, elements);
    for (const auto e : indices(elements)) {
      const double value = kept.value(elements[e]);
      const double error = std::abs(value - expected[e].value);
      if (error <= expected[e].tolerance) continue;
      return fail(
          std::isnan(value) ? Status::nan_result : Status::wrong_result,
          name(kept, elements[e], set) + " is " + number_text(value) + " " + when +
              (row.whole ? " with all rows of " : " with row " + std::to_string(row.row) + " of ") +
              operands_[as_size(row.operand)].name + " changed, expected " +
              number_text(expected[e].value) + " +- " + number_text(expected[e].tolerance));
    }
    return true;
  }

 private:
  std::vector<std::int64_t> largest_differences(const Stretch& kept, const Stretch& first) const {
    std::vector<std::pair<double, std::int64_t>> found;
    const std::int64_t size = kept.element_bytes();
    for (const std::int64_t i : below(kept.count())) {
      if (std::memcmp(kept.bytes.data() + i * size, first.bytes.data() + i * size, as_size(size)) ==
          0)
        continue;
      found.emplace_back(-std::abs(kept.value(i) - first.value(i)), i);
    }
    const std::size_t count = std::min(found.size(), differing_elements_max);
    std::partial_sort(found.begin(), found.begin() + as_int64(count), found.end());
    auto elements = mapped(indices(count), [&](const auto i) { return found[i].second; });
    std::ranges::sort(elements);
    return elements;
  }

  // Few of one row, where its elements share their work.
  std::vector<std::int64_t> some_of(const Stretch& kept, std::uint64_t seed) const {
    const OutputShape shape = output_shape(kept.spec);
    const ReferenceCost cost = reference_cost(contract_, problem_.params, shape);
    std::int64_t count = row_elements_max, among = kept.count();
    if (cost.groups_are_rows) {
      among = std::min(among, shape.columns);
    } else {
      count =
          std::clamp<std::int64_t>(as_int64(row_flops_max / cost.per_group), 2, row_elements_max);
    }
    std::set<std::int64_t> elements;
    for (std::int64_t i = 0; i < count && among > 0; ++i) {
      elements.insert(as_int64(uniform_below(hash_u64(seed, as_uint64(i)), as_uint64(among))));
    }
    return {elements.begin(), elements.end()};
  }

  // Of elements of the stretch.
  std::vector<Expected> reference(const InputReader& inputs, const Stretch& stretch,
                                  std::vector<std::int64_t> elements) const {
    for (std::int64_t& element : elements) element += stretch.first;
    std::vector<Expected> expected(elements.size());
    contract_.reference(problem_.params, inputs, rank_, stretch.operand, elements, expected);
    return expected;
  }

  const OpContract& contract_;
  const Problem& problem_;
  std::vector<OperandSpec> operands_;
  StagedInputs& inputs_;
  int rank_;
  CorrectnessResult result_{.ok = true, .status = Status::ok, .reason = {}, .correctness = {}};
};

// The whole of an output in what the gate was shown.
std::span<const std::byte> whole(const RevealedOutputs& shown, std::int64_t operand) {
  for (const protocol::RevealedPart& part : shown.revealed.parts) {
    if (part.operand != operand) continue;
    const auto size = std::ssize(shown.bytes);
    if (part.offset < 0 || part.bytes < 0 || part.offset > size - part.bytes) return {};
    return shown.bytes.subspan(as_size(part.offset), as_size(part.bytes));
  }
  return {};
}

std::string said_of(const protocol::KeptOutput& output) {
  if (output.at_once) return "when wait had returned";
  return "behind sample " + std::to_string(output.sample);
}

// Nothing where the worker's words do not fit the contract.
std::optional<Stretch> stretch_of(const protocol::KeptOutput& output, const KeptSeries& kept,
                                  const std::vector<OperandSpec>& operands) {
  if (output.operand < 0 || output.operand >= std::ssize(operands)) return std::nullopt;
  const auto operand = as_size(output.operand);
  const OperandSpec& spec = operands[operand];
  const std::int64_t element_bytes = dtype_bits(spec.dtype) / 8;
  const bool fits = spec.role == Role::output && element_bytes > 0 &&
                    output.begin % element_bytes == 0 && output.begin <= spec.bytes() &&
                    output.bytes <= spec.bytes() - output.begin;
  if (!fits) return std::nullopt;
  return Stretch{spec, operand, output.begin / element_bytes,
                 std::span(kept.bytes).subspan(as_size(output.offset), as_size(output.bytes))};
}

}  // namespace

bool SetValues::equal_those_of_first(std::span<const OperandSpec> operands, int set) const {
  const auto has = [&](Role role) { return contains(operands, role, &OperandSpec::role); };
  if (has(Role::in_out)) return false;  // what accumulates has another output every time
  if (set == 0) return true;
  return mode != CacheMode::rotate_all && mode != CacheMode::flush && !has(Role::state) &&
         (!has(Role::constant) || constants_shared) && set != witness;
}

KeptChecks& KeptChecks::operator+=(const KeptChecks& more) {
  executions += more.executions;
  rows += more.rows;
  redrawn += more.redrawn;
  share = std::min(share, more.share);
  return *this;
}

KeptResult check_kept(const OpContract& contract, const Problem& problem, StagedInputs& inputs,
                      int rank, const SetValues& values, const KeptSeries& kept,
                      const RevealedOutputs& first, std::uint64_t seed) {
  KeptCheck check(contract, problem, inputs, rank);
  KeptChecks checks;
  std::set<std::int64_t> executions, rows, redrawn;
  for (const protocol::KeptOutput& output : kept.outputs) {
    const auto stretch = stretch_of(output, kept, check.operands());
    if (!stretch) {
      check.fail(Status::wrong_result, "a kept output does not fit the contract");
      return {check.result(), checks};
    }
    const std::string when = said_of(output);
    inputs.set_index(output.set);
    bool is_right = true;
    if (output.overwritten) {
      const auto& row = kept.overwritten[as_size(*output.overwritten)];
      is_right = is_row_of(row, check.operands()) &&
                 check.agrees(*stretch, output.set, row,
                              hash_combine(seed, as_uint64(output.offset)), when);
      (row.whole ? redrawn : rows).insert(*output.overwritten);
    } else if (output.at_once) {
      is_right = check.is_written(*stretch, output.set, when + ": repeats are skipped or late");
    } else {
      const std::span<const std::byte> all = whole(first, output.operand);
      const bool has_first = values.equal_those_of_first(check.operands(), output.set) &&
                             output.begin + output.bytes <= std::ssize(all);
      if (!has_first) continue;
      const Stretch of_first{stretch->spec, stretch->operand, stretch->first,
                             all.subspan(as_size(output.begin), as_size(output.bytes))};
      is_right = check.equals(*stretch, of_first, output.set, when);
      executions.insert(output.sample);
      checks.share =
          std::min(checks.share, as_double(output.bytes) / as_double(stretch->spec.bytes()));
    }
    if (!is_right) {
      if (check.result().ok) check.fail(Status::wrong_result, "a changed row does not exist");
      return {check.result(), checks};
    }
  }
  checks.executions = std::ssize(executions);
  checks.rows = std::ssize(rows);
  checks.redrawn = std::ssize(redrawn);
  return {check.result(), checks};
}

CorrectnessResult check_again(const OpContract& contract, const Problem& problem,
                              StagedInputs& inputs, int rank, const SetValues& values,
                              const RevealedOutputs& again, const RevealedOutputs& first) {
  KeptCheck check(contract, problem, inputs, rank);
  for (const protocol::RevealedPart& part : again.revealed.parts) {
    if (!values.equal_those_of_first(check.operands(), part.set)) continue;
    const auto operand = as_size(part.operand);
    if (part.operand < 0 || operand >= check.operands().size()) continue;
    const OperandSpec& spec = check.operands()[operand];
    const std::span<const std::byte> now = whole(again, part.operand);
    const std::span<const std::byte> then = whole(first, part.operand);
    if (spec.role != Role::output || dtype_bits(spec.dtype) % 8 != 0 || now.size() != then.size())
      continue;
    inputs.set_index(part.set);
    const Stretch kept{spec, operand, 0, now}, accepted{spec, operand, 0, then};
    if (!check.equals(kept, accepted, part.set, "behind the loop")) break;
  }
  return check.result();
}

std::string kept_method(const KeptChecks& checks, const std::string& when) {
  if (checks.executions == 0 && checks.rows == 0 && checks.redrawn == 0) return {};
  const double missed = std::pow(0.9, as_double(checks.executions));
  std::string text =
      std::to_string(checks.executions) + " executions " + when + " against the first output";
  if (checks.share < 1) {
    text += " (" + number_text(100 * checks.share, 2) + " % of it each)";
  }
  text += ": a fault of every 10th is found with " + number_text(100 * (1 - missed), 3) + " %";
  if (checks.rows > 0) text += ", " + std::to_string(checks.rows) + " with changed inputs";
  if (checks.redrawn > 0) {
    text += ", inputs rewritten before " + std::to_string(checks.redrawn) + " samples";
  }
  return text;
}

}  // namespace halmark
