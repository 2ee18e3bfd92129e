#include "tune/devices/op_paths.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "kernels/contract.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/table_columns.hpp"

namespace halmark::tune {
namespace {

// Sizes that decide about the path, over those of a contract's example.
struct AskedSizes {
  std::string_view op, what;
  std::vector<std::pair<std::string_view, std::int64_t>> sizes;
};
const std::array asked_sizes = {
    AskedSizes{"gemm", "1 row", {{"m", 1}, {"n", 1024}, {"k", 1024}}},
    AskedSizes{"gemm", "512 rows", {{"m", 512}, {"n", 1024}, {"k", 1024}}},
    AskedSizes{
        "attention",
        "decode",
        {{"heads", 4}, {"kv_heads", 2}, {"head_dim", 64}, {"new_tokens", 1}, {"context", 512}}},
    AskedSizes{
        "attention",
        "prefill",
        {{"heads", 4}, {"kv_heads", 2}, {"head_dim", 64}, {"new_tokens", 64}, {"context", 64}}}};
constexpr std::array asked_types = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::s8, Dtype::c64};

std::string types_of(const OpContract& contract, const Params& params) {
  std::vector<std::string> all;
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind == ParamKind::dtype) all.emplace_back(dtype_name(params.dtype(spec.name)));
  }
  const bool is_one = std::ranges::all_of(all, [&](const auto& t) { return t == all.front(); });
  return is_one && !all.empty() ? all.front() : join(all, "_");
}

// The first of the contract's own examples of each combination of types.
std::vector<Params> examples_of(const OpContract& contract) {
  std::vector<Params> out;
  std::set<std::string> seen;
  for (const Dtype dtype : asked_types) {
    for (const Params& params : contract.conformance_params(std::array{dtype})) {
      const Params whole = complete_problem({std::string(contract.name()), params}).params;
      if (seen.insert(types_of(contract, whole)).second) out.push_back(whole);
    }
  }
  return out;
}

// One device, open in a worker of its own.
class Interview {
 public:
  Interview(const FoundPlugin& plugin, std::uint32_t index, const WorkerLimits& limits)
      : name_(plugin.description->name + ':' + plugin.description->devices[index].id) {
    worker_ = take(Worker::start({.cpus = CpuSet{}, .limits = limits}));
    take(worker_->load(plugin.path));
    take(worker_->open(index));
  }
  ~Interview() { worker_->quit(); }
  Interview(const Interview&) = delete;
  Interview& operator=(const Interview&) = delete;

  void ask(const OpContract& contract, std::vector<OpPath>& out) {
    for (const Params& example : examples_of(contract)) {
      bool has_sizes = false;
      for (const AskedSizes& asked : asked_sizes) {
        if (asked.op != contract.name()) continue;
        has_sizes = true;
        Params sized = example;
        for (const auto& [size, value] : asked.sizes) sized.set(std::string(size), value);
        add(contract, sized, std::string(asked.what), out);
      }
      if (!has_sizes) add(contract, example, "", out);
    }
  }

 private:
  template <class Value>
  Value take(Outcome<Value> outcome) const {
    if (!outcome) {
      throw unfit(name_ + ": " + outcome.failure.reason, "halmark doctor checks the plugin");
    }
    return std::move(*outcome);
  }

  void add(const OpContract& contract, const Params& params, std::string what,
           std::vector<OpPath>& out) {
    protocol::Stage request{.id = ++id_, .problem = {std::string(contract.name()), params}};
    const auto answer = take(worker_->supports("", request.problem, {Config{}}));
    if (answer.status.at(0) != 0) return;
    const protocol::Staged staged = take(worker_->stage(request));
    take(worker_->drop(id_));
    out.push_back({name_, request.problem.op, std::move(what), types_of(contract, params),
                   staged.kernel, staged.implementation});
  }

  std::string name_;
  std::unique_ptr<Worker> worker_;
  std::int64_t id_ = 0;
};

std::string library_of(const Implementation& by) {
  return by.library_version.empty() ? by.library : by.library + ' ' + by.library_version;
}

bool is_same_path(const OpPath& a, const OpPath& b) {
  return a.device == b.device && a.op == b.op && a.what == b.what && a.kernel == b.kernel &&
         report::implementation_name(a.implementation.name) ==
             report::implementation_name(b.implementation.name);
}

}  // namespace

std::vector<OpPath> op_paths(std::span<const FoundPlugin> found, const WorkerLimits& limits) {
  std::vector<OpPath> out;
  for (const FoundPlugin& plugin : found) {
    if (!plugin.is_loaded()) continue;
    std::set<std::string> offered;
    for (const auto& kernel : plugin.description->kernels) {
      if (!kernel.collective) offered.insert(kernel.op);
    }
    for (std::uint32_t i = 0; i < plugin.description->devices.size(); ++i) {
      Interview interview(plugin, i, limits);
      for (const OpContract* contract : all_contracts()) {
        if (offered.contains(std::string(contract->name()))) interview.ask(*contract, out);
      }
    }
  }
  return out;
}

report::View paths_view(std::span<const OpPath> paths) {
  report::View out{.data = {{"paths", Json::array()}}};
  for (const OpPath& path : paths) {
    out.data["paths"].push_back({{"device", path.device},
                                 {"op", path.op},
                                 {"what", path.what},
                                 {"types", path.types},
                                 {"kernel", path.kernel},
                                 {"implementation", path.implementation}});
  }
  report::TextTable table({"device", "op", "of", "types", "kernel", "implementation", "library"},
                          std::vector<bool>(7, false));
  std::vector<OpPath> lines;
  for (const OpPath& path : paths) {
    auto* same = find_or_null(lines, true, [&](const OpPath& l) { return is_same_path(l, path); });
    if (!same) {
      lines.push_back(path);
    } else {
      same->types += ", " + path.types;
    }
  }
  for (const OpPath& line : lines) {
    table.add({line.device, line.op, report::or_dash(line.what), report::or_dash(line.types),
               line.kernel, report::implementation_name(line.implementation.name),
               library_of(line.implementation)});
  }
  out.text = table.text();
  return out;
}

}  // namespace halmark::tune
