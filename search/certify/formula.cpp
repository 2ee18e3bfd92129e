#include "search/certify/formula.hpp"

#include <algorithm>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"

namespace halmark {
namespace {

using Op = FormulaStep::Op;

Formula joined(const std::vector<Formula>& operands, Op op) {
  Formula out;
  for (const Formula& f : operands) append_all(out, f);
  out.push_back({op, as_int(operands.size()), 0});
  return out;
}

// Folds the last `count` values of the stack into one.
template <typename Fold>
void reduce(std::vector<double>& stack, std::int32_t count, double first, Fold fold) {
  double out = first;
  const std::size_t begin = stack.size() - as_size(count);
  for (std::size_t i = begin; i < stack.size(); ++i) out = fold(out, stack[i]);
  stack.resize(begin);
  stack.push_back(out);
}

const char* name_of(Op op) {
  switch (op) {
    case Op::constant:
      return "constant";
    case Op::fact:
      return "fact";
    case Op::kernel:
      return "kernel";
    case Op::slot:
      return "slot";
    case Op::sum:
      return "sum";
    case Op::max:
      return "max";
    case Op::min:
      return "min";
    case Op::scale:
      return "scale";
    case Op::divide:
      return "divide";
    case Op::rate:
      return "rate";
  }
  return "";
}

}  // namespace

namespace formula {

Formula constant(double value) { return {{Op::constant, 0, value}}; }
Formula fact(std::int32_t fact) { return {{Op::fact, fact, 0}}; }
Formula kernel(std::int32_t kernel) { return {{Op::kernel, kernel, 0}}; }
Formula slot(std::int32_t slot) { return {{Op::slot, slot, 0}}; }
Formula sum(const std::vector<Formula>& terms) { return joined(terms, Op::sum); }
Formula largest(const std::vector<Formula>& of) { return joined(of, Op::max); }
Formula smallest(const std::vector<Formula>& of) { return joined(of, Op::min); }
Formula scaled(const Formula& factor, const Formula& x) { return joined({factor, x}, Op::scale); }
Formula divided(const Formula& x, const Formula& divisor) {
  return joined({x, divisor}, Op::divide);
}
Formula rate(const Formula& amount, const Formula& x) { return joined({amount, x}, Op::rate); }

}  // namespace formula

double evaluate(const Formula& formula, const FormulaInputs& inputs, std::vector<double>& stack) {
  stack.clear();
  const auto binary = [&stack](auto fold) {
    const double right = stack.back();
    stack.pop_back();
    stack.back() = fold(stack.back(), right);
  };
  for (const FormulaStep& s : formula) {
    const auto i = as_size(s.index);
    switch (s.op) {
      case Op::constant:
        stack.push_back(s.value);
        break;
      case Op::fact:
        stack.push_back(inputs.facts[i]);
        break;
      case Op::kernel:
        stack.push_back(inputs.times[i]);
        break;
      case Op::slot:
        stack.push_back(inputs.times[as_size(inputs.slots[i])]);
        break;
      case Op::sum:
        reduce(stack, s.index, 0, [](double a, double b) { return a + b; });
        break;
      case Op::max:
        reduce(stack, s.index, stack[stack.size() - i],
               [](double a, double b) { return std::max(a, b); });
        break;
      case Op::min:
        reduce(stack, s.index, stack[stack.size() - i],
               [](double a, double b) { return std::min(a, b); });
        break;
      case Op::scale:
        binary([](double factor, double x) { return factor * x; });
        break;
      case Op::divide:
        binary([](double x, double divisor) { return x / divisor; });
        break;
      case Op::rate:
        binary([](double amount, double x) { return -(amount / x); });
        break;
    }
  }
  return stack.back();
}

void add_kernels(const Formula& formula, std::span<const std::int32_t> slots,
                 std::vector<std::int32_t>& kernels) {
  for (const FormulaStep& s : formula) {
    if (s.op == Op::kernel) kernels.push_back(s.index);
    if (s.op == Op::slot) kernels.push_back(slots[as_size(s.index)]);
  }
}

Json formula_json(const Formula& formula, std::span<const std::string> facts,
                  std::span<const std::string> slots) {
  std::vector<Json> stack;
  for (const FormulaStep& s : formula) {
    const auto i = as_size(s.index);
    switch (s.op) {
      case Op::constant:
        stack.emplace_back(s.value);
        break;
      case Op::fact:
        stack.emplace_back(facts[i]);
        break;
      case Op::kernel:
        stack.push_back(Json::array({"kernel", s.index}));
        break;
      case Op::slot:
        stack.push_back(Json::array({"slot", slots[i]}));
        break;
      default: {
        Json node = Json::array({name_of(s.op)});
        for (std::size_t k = stack.size() - i; k < stack.size(); ++k) node.push_back(stack[k]);
        stack.resize(stack.size() - i);
        stack.push_back(std::move(node));
      }
    }
  }
  return stack.back();
}

}  // namespace halmark
