// Refuses before the plugin is asked: a filter that nothing matches would compare nothing.
#include "tune/search/kernels/asked_variants.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t searched_combinations_max = 65536;

VariantFilter filter_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  VariantFilter out{.kernel = text.substr(0, colon)};
  if (colon == std::string::npos) return out;
  std::string rest = text.substr(colon + 1) + '+';
  while (!rest.empty()) {
    const std::size_t end = rest.find('+');
    const std::string item = rest.substr(0, end);
    const std::size_t equal = item.find('=');
    if (equal == std::string::npos || equal == 0) {
      throw refused("--variants: '" + item + "' of '" + text + "' is not parameter=value", {},
                    "for example gemm_onednn:packed=0+threads=1");
    }
    out.values.emplace_back(item.substr(0, equal), item.substr(equal + 1));
    rest.erase(0, end + 1);
  }
  return out;
}

void check_filter(const VariantFilter& filter, const protocol::PluginDescription& plugin,
                  std::span<const KernelCase> questions) {
  const auto kernel =
      std::ranges::find(plugin.kernels, filter.kernel, &protocol::KernelDescription::name);
  if (kernel == plugin.kernels.end()) {
    auto known = mapped(plugin.kernels, [&](const auto& k) { return k.name; });
    throw refused("backend " + plugin.name + " has no kernel '" + filter.kernel + "'", {},
                  suggestion(filter.kernel, known));
  }
  const bool is_asked = std::ranges::any_of(
      questions, [&](const KernelCase& q) { return q.problem.op == kernel->op; });
  if (!is_asked) {
    throw refused("--variants: kernel '" + filter.kernel + "' is of op " + kernel->op +
                  ", which is not measured here");
  }
}

// Empty = everything.
std::vector<VariantFilter> filters_of(const VariantRequest& request,
                                      std::span<const KernelCase> questions) {
  std::vector<VariantFilter> out;
  for (const std::string& text : request.kernels) {
    if (text == "all") return {};
    out.push_back(filter_of(text));
    check_filter(out.back(), request.plugin, questions);
  }
  return out;
}

}  // namespace

std::vector<VariantSet> asked_variants(std::span<const KernelCase> questions,
                                       const VariantRequest& request) {
  VariantOptions asked{.plugin_path = request.plugin_path,
                       .limits = request.limits,
                       .filters = filters_of(request, questions)};
  for (const KernelCase& question : questions) {
    if (!question.is_collective()) continue;
    throw refused("--variants: " + question.problem.op +
                  " is a collective; its variants belong to the communication library");
  }
  if (request.is_searched) asked.combinations_max = searched_combinations_max;
  std::vector<VariantSet> sets = find_variants(questions, asked);
  if (std::ranges::all_of(sets, [](const VariantSet& s) { return s.variants.empty(); })) {
    throw unfit("no kernel of " + request.plugin.name + " supports this: " +
                (sets.empty() || sets.front().notes.empty() ? std::string("nothing was asked")
                                                            : sets.front().notes.front()));
  }
  return sets;
}

}  // namespace halmark::tune
