// The contracts as they are written: parameters, operands, work, twins, conformance problems and
// some elements of the references, byte for byte. What a contract says changes on purpose or not
// at all; whether it is right is held by the other tests of this room.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/text/digest.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/golden/golden.hpp"

namespace halmark {
namespace {

const std::vector<Dtype> types{Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::s8,
                               Dtype::s32, Dtype::u8,   Dtype::c64, Dtype::c128};

std::string list(std::span<const std::int64_t> values) {
  std::string out;
  for (const std::int64_t v : values) out += fmt::format("{}{}", out.empty() ? "" : " ", v);
  return '[' + out + ']';
}

std::string spec_text(const ParamSpec& s) {
  std::string out =
      fmt::format("  {} kind {} {}..{}", s.name, static_cast<int>(s.kind), s.low, s.high);
  if (s.fallback) out += fmt::format(" else {}", *s.fallback);
  if (!s.allowed.empty()) out += " of " + list(s.allowed);
  if (s.derived) out += " derived";
  return out + ": " + std::string(s.meaning) + '\n';
}

std::string work_text(const Work& w) {
  return fmt::format(
      "    flops {:.0f} + {:.0f} in {}, bytes {:.0f} -> {:.0f}, constant {:.0f}, "
      "message {:.0f}, transfer {:.0f}\n",
      w.matmul_flops, w.vector_flops, dtype_name(w.compute_dtype), w.bytes_read, w.bytes_written,
      w.constant_bytes, w.message_bytes, w.transfer_bytes);
}

std::string operand_text(const OperandSpec& o) {
  std::string out = fmt::format("    {} role {} {} {} {} x{:g} of {}", o.name,
                                static_cast<int>(o.role), dtype_name(o.dtype), list(o.dims),
                                static_cast<int>(o.distribution), o.scale, o.index_bound);
  if (o.given) {
    const std::vector<std::int64_t>& given = o.given->get();
    out += " given " + list(std::span(given).first(std::min<std::size_t>(8, given.size())));
  }
  return out + '\n';
}

// A sum in another order may differ in the last digits; zero may have lost its sign.
std::string number(double value) {
  return value == 0 ? "0" : std::isfinite(value) ? fmt::format("{:.7g}", value) : "not finite";
}

// The first, the middle and the last element of every output, on the first and the last rank.
std::string reference_text(const OpContract& contract, const Params& params,
                           const std::vector<OperandSpec>& operands) {
  const GeneratedInputs inputs(7, operands, 0);
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const OperandSpec& o = operands[i];
    if (o.role != Role::output && o.role != Role::in_out) continue;
    const std::int64_t n = o.elements();
    const auto ranks = static_cast<int>(params.value_or("ranks", 1));
    for (int rank = 0; rank < ranks; rank += std::max(1, ranks - 1)) {
      const std::vector<std::int64_t> elements = {0, n / 2, n - 1};
      std::vector<Expected> expected(elements.size());
      contract.reference(params, inputs, rank, i, elements, expected);
      out += fmt::format("    {} of rank {}:", o.name, rank);
      for (const Expected& e : expected) {
        out += fmt::format(" {} +- {}", number(e.value),
                           e.tolerance == 0 ? "0" : fmt::format("{:.3g}", e.tolerance));
      }
      out += '\n';
    }
  }
  return out;
}

std::string problem_text(const OpContract& contract, const Params& params) {
  std::string out = "  " + params.text() + '\n' + work_text(contract.work(params));
  const std::vector<OperandSpec> operands = contract.operands(params);
  for (const OperandSpec& o : operands) out += operand_text(o);
  if (const auto m = contract.as_matmul(params)) {
    out += fmt::format("    matmul {} {} {} of {} {} {}{}\n", m->m, m->n, m->k, m->a, m->b, m->c,
                       m->b_transposed ? " transposed" : "");
  }
  if (const auto flops = contract.element_flops(params)) {
    out += fmt::format("    an element takes {:g}\n", *flops);
  }
  if (!contract.is_measurable()) return out;
  Params large = params;
  for (const ParamSpec& s : contract.params()) {
    const bool is_free =
        s.kind == ParamKind::size && !s.derived && s.high > 4096 && s.allowed.empty();
    if (is_free && params.at(s.name) > 1) large.set(s.name, params.at(s.name) * 1024);
  }
  if (!contract.check_relations(large))
    out += "    twin of large: " + contract.twin(large).text() + '\n';
  return out + "    twin: " + contract.twin(params).text() + '\n' +
         reference_text(contract, params, operands);
}

// Every size `size`, the first of everything else; a fault where that does not fit together.
std::string sized_text(const OpContract& contract, std::int64_t size) {
  Params params;
  for (const ParamSpec& s : contract.params()) {
    if (s.derived) continue;
    const std::int64_t value = !s.allowed.empty()          ? s.allowed.front()
                               : s.kind == ParamKind::size ? std::clamp(size, s.low, s.high)
                                                           : s.low;
    params.set(s.name, s.fallback.value_or(value));
  }
  if (const auto fault = contract.check_relations(params)) return "  fault: " + *fault + '\n';
  for (const ParamSpec& s : contract.params()) {
    if (s.derived) params.set(s.name, contract.derived(s.name, params));
  }
  return problem_text(contract, params);
}

std::string contract_text(const OpContract& contract) {
  std::string out =
      fmt::format("{}{}{}: {}\n", contract.name(), contract.is_collective() ? " (collective)" : "",
                  contract.is_measurable() ? "" : " (priced)", contract.summary());
  for (const ParamSpec& s : contract.params()) out += spec_text(s);
  const std::vector<Params> cases = contract.conformance_params(types);
  std::string all;
  for (const Params& params : cases) all += params.text() + '\n';
  out += fmt::format("  {} conformance problems, {}\n", cases.size(), sha256_of(all).substr(0, 16));
  for (std::size_t i = 0; i < 6 && !cases.empty(); ++i) {
    out += problem_text(contract, cases[i * (cases.size() - 1) / 5]);
  }
  if (cases.empty()) {
    for (const std::int64_t size : {4, 32, 96}) out += sized_text(contract, size);
  }
  return out + '\n';
}

TEST(GoldenContracts, are_as_they_were_reviewed) {
  std::string text;
  for (const OpContract* contract : all_contracts()) text += contract_text(*contract);
  EXPECT_TRUE(golden::is_as_expected(text, "contracts.txt"));
}

}  // namespace
}  // namespace halmark
