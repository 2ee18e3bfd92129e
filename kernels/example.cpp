#include "kernels/example.hpp"

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// Asked of a contract for an example, the usual ones first.
constexpr std::array example_dtypes = {Dtype::f32, Dtype::bf16, Dtype::s8, Dtype::s32, Dtype::c64};

struct UsualSize {
  std::string_view name;
  std::int64_t value;
};
// Of a layer of a small model: more than the caches hold, and some milliseconds on a CPU.
constexpr std::array usual_sizes = {
    UsualSize{"m", 1024},       UsualSize{"n", 1024},         UsualSize{"k", 1024},
    UsualSize{"rows", 1024},    UsualSize{"cols", 4096},      UsualSize{"tokens", 256},
    UsualSize{"hidden", 1024},  UsualSize{"vocab", 32768},    UsualSize{"intermediate", 2816},
    UsualSize{"batch", 1},      UsualSize{"heads", 16},       UsualSize{"kv_heads", 8},
    UsualSize{"head_dim", 128}, UsualSize{"rotary_dim", 128}, UsualSize{"new_tokens", 1},
    UsualSize{"context", 4096}, UsualSize{"experts", 8},      UsualSize{"top_k", 2},
    UsualSize{"skew", 0},       UsualSize{"wei_trans", 0},    UsualSize{"bytes", 16 << 20},
    UsualSize{"ranks", 2},      UsualSize{"lanes", 4096},     UsualSize{"iterations", 1000},
    UsualSize{"qubits", 20}};

std::optional<Params> completed(const OpContract& op, const Params& params) {
  try {
    return complete_problem({std::string(op.name()), params}).params;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// `example` with what is usual in its place where `usual`, and what is given in any case.
Params merged_params(const OpContract& op, const Params& example, const Params& given, bool usual) {
  Params out;
  for (const ParamSpec& spec : op.params()) {
    if (spec.derived) continue;
    std::int64_t value = example.at(spec.name);
    const auto* size = find_or_null(usual_sizes, spec.name, &UsualSize::name);
    if (usual && size) value = size->value;
    out.set(spec.name, given.find(spec.name) ? given.at(spec.name) : value);
  }
  return out;
}

}  // namespace

std::string value_text(const ParamSpec& spec, std::int64_t value) {
  if (spec.kind != ParamKind::dtype) return std::to_string(value);
  const auto dtype = dtype_from_value(value);
  return dtype ? std::string(dtype_name(*dtype)) : std::to_string(value);
}

std::optional<Params> example_of(const OpContract& op) {
  const std::vector<Params> all = op.conformance_params(example_dtypes);
  if (all.empty()) return std::nullopt;
  const auto bytes_of = [&](const Params& p) {
    const Params whole = complete_problem({std::string(op.name()), p}).params;
    const Work work = op.work(whole);
    return work.bytes_read + work.bytes_written;
  };
  return completed(op, *std::ranges::max_element(all, {}, bytes_of));
}

std::optional<Params> usual_problem(const OpContract& op, const Params& given) {
  const auto example = example_of(op);
  if (!example) return std::nullopt;
  if (auto usual = completed(op, merged_params(op, *example, given, true))) return usual;
  return completed(op, merged_params(op, *example, given, false));
}

std::vector<const ParamSpec*> missing_of(const OpContract& op, const Params& given) {
  std::vector<const ParamSpec*> out;
  for (const ParamSpec& spec : op.params()) {
    const bool is_left_out = !spec.derived && !spec.fallback && !given.find(spec.name);
    if (is_left_out && spec.kind != ParamKind::dtype) out.push_back(&spec);
  }
  return out;
}

ProblemWords words_of(const OpContract& op, const Params& params) {
  ProblemWords out;
  for (const ParamSpec& spec : op.params()) {
    const std::int64_t value = params.at(spec.name);
    if (spec.derived || spec.fallback == value) continue;
    std::string& text = spec.kind == ParamKind::dtype ? out.dtype : out.params;
    if (spec.kind != ParamKind::dtype) {
      append_item(text, ",", std::string(spec.name) + '=' + std::to_string(value));
    } else if (text.empty()) {
      text = value_text(spec, value);
    }
  }
  if (out.dtype.empty()) out.dtype = "f32";
  return out;
}

}  // namespace halmark
