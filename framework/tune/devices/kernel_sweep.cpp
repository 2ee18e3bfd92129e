#include "tune/devices/kernel_sweep.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "tune/search/kernels/asked_variants.hpp"

namespace halmark::tune {
namespace {

// What a plugin offers beside its own choice, of one problem; nothing where it cannot be asked.
void add_variants(const KernelSweep& sweep, const FoundPlugin& plugin, const BackendChoice& usual,
                  BackendQuestion& question) {
  std::vector<VariantSet> sets;
  try {
    sets = asked_variants({&usual.kernel_case, 1}, {.kernels = sweep.variants,
                                                    .plugin_path = plugin.path,
                                                    .plugin = *plugin.description,
                                                    .is_searched = sweep.sampler != "grid"});
  } catch (const Error& e) {
    question.notes.push_back(usual.backend + ": " + e.what());
    return;
  }
  for (const Variant& v : sets.front().variants) {
    if (v.is_default) continue;
    question.choices.push_back({usual.backend, v.text(), variant_case(usual.kernel_case, v)});
  }
  for (const std::string& note : sets.front().notes) {
    question.notes.push_back(usual.backend + ": " + note);
  }
}

}  // namespace

std::vector<BackendQuestion> offered_questions(const KernelSweep& sweep,
                                               const NamedDevices& devices,
                                               const std::vector<FoundPlugin>& found) {
  std::vector<BackendQuestion> out = backend_questions(sweep);
  if (sweep.variants.empty()) return out;
  for (BackendQuestion& question : out) {
    const std::vector<BackendChoice> usual = question.choices;
    for (const BackendChoice& choice : usual) {
      const auto own = std::ranges::find_if(devices.devices(), [&](const NamedDevice& d) {
        return d.place.backend == choice.kernel_case.backend && !d.plugin_path.empty();
      });
      if (own == devices.devices().end()) continue;
      const auto* plugin = find_or_null(found, own->plugin_path, &FoundPlugin::path);
      if (plugin) add_variants(sweep, *plugin, choice, question);
    }
  }
  return out;
}

std::vector<report::BackendComparison> compare_backends(std::span<const BackendQuestion> questions,
                                                        std::span<const Measurement> rows,
                                                        const ReportingMachine& machine) {
  const std::map<std::string, KernelPoint> points = points_by_key(rows, machine);
  std::vector<report::BackendComparison> out;
  for (const BackendQuestion& question : questions) {
    std::vector<report::BackendTime> times;
    for (const BackendChoice& choice : question.choices) {
      const auto* found = find_value(points, choice.kernel_case.key());
      if (!found) continue;  // not tried within the budget
      times.push_back({choice.backend, choice.variant, *found});
    }
    const Dtype dtype =
        find_contract(question.problem.op)->work(question.problem.params).compute_dtype;
    out.push_back(report::compared(question.problem.text(), std::string(dtype_name(dtype)),
                                   std::move(times)));
    out.back().notes = question.notes;
  }
  return out;
}

}  // namespace halmark::tune
