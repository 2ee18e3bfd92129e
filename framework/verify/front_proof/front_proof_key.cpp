// Keys are canonical: what is read is written again and compared, so that no second spelling of a
// kernel can stand for it in a proof.
#include "verify/front_proof/front_proof_key.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "core/lists.hpp"
#include "kernels/contract.hpp"

namespace halmark::front_proof {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + at.size());
  }
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number out = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool is_whole = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return is_whole ? std::optional(out) : std::nullopt;
}

std::optional<std::int64_t> param_of(std::string_view name, std::string_view text) {
  if (name == "dtype" || name.ends_with("_dtype")) {
    for (const Dtype dtype : all_dtypes()) {
      if (dtype_name(dtype) == text) return as_int64(dtype);
    }
  }
  return number_of<std::int64_t>(text);
}

bool read_problem(std::string_view text, Problem& out) {
  const std::vector<std::string_view> words = split(text, " ");
  out.op = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = words[i].substr(0, equals);
    const auto value = param_of(name, words[i].substr(equals + 1));
    if (!value) return false;
    out.params.set(name, *value);
  }
  return true;
}

// "cpu:0/2x2"
bool read_place(std::string_view text, KernelCase& out) {
  const std::size_t colon = text.find(':'), slash = text.rfind('/'), x = text.rfind('x');
  const bool is_place = colon != std::string_view::npos && slash != std::string_view::npos &&
                        x != std::string_view::npos && colon < slash && slash < x;
  if (!is_place) return false;
  const auto parts = number_of<int>(text.substr(slash + 1, x - slash - 1));
  const auto shards = number_of<int>(text.substr(x + 1));
  if (!parts || !shards || *parts < 1 || *shards < 1) return false;
  out.backend = text.substr(0, colon);
  out.device = text.substr(colon + 1, slash - colon - 1);
  out.parts = *parts;
  out.shards_at_once = *shards;
  return true;
}

// "rotate_const:4", "in_stack:4 9f3a2b1c00d4"
bool read_mode(std::string_view text, KernelCase& out) {
  const std::size_t colon = text.find(':'), blank = text.find(' ');
  if (colon == std::string_view::npos) return false;
  const auto mode = parse_cache_mode(text.substr(0, colon));
  const auto sets = number_of<int>(
      text.substr(colon + 1, blank == std::string_view::npos ? blank : blank - colon - 1));
  if (!mode || !sets || *sets < 1) return false;
  out.mode = *mode;
  out.sets = *sets;
  if (blank != std::string_view::npos) out.neighbours = text.substr(blank + 1);
  return true;
}

}  // namespace

std::optional<KernelCase> read_kernel_key(const std::string& key) {
  const std::vector<std::string_view> parts = split(key, " | ");
  KernelCase out;
  if (parts.size() != 4 || !read_problem(parts[0], out.problem)) return std::nullopt;
  if (parts[1] != "-") out.kernel = parts[1];
  if (!read_place(parts[2], out) || !read_mode(parts[3], out)) return std::nullopt;
  return out.key() == key ? std::optional(out) : std::nullopt;
}

KernelCase without_choice(KernelCase kernel_case) {
  kernel_case.kernel.clear();
  kernel_case.config = {};
  return kernel_case;
}

Work contract_work(const KernelCase& kernel_case) {
  const Problem problem = complete_problem(kernel_case.problem);
  return find_contract(problem.op)->work(problem.params);
}

}  // namespace halmark::front_proof
