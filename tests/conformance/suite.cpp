#include "suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <sstream>

#include "host/plugin/discovery.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

constexpr std::array every_dtype{Dtype::f32,       Dtype::f64,     Dtype::bf16, Dtype::f16,
                                 Dtype::f8_e4m3fn, Dtype::f8_e5m2, Dtype::s8,   Dtype::s32,
                                 Dtype::u8,        Dtype::c64,     Dtype::c128};

std::string identifier(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

std::string label_of(const std::string& path) {
  const auto stem = std::filesystem::path(path).stem().string();
  return identifier(stem.starts_with("hm_") ? stem.substr(3) : stem);
}

bool names_one_test(const std::string& filter) {
  return !filter.empty() && filter.find_first_of("*?:-") == std::string::npos;
}

// Whether a test of the plugin may match one of the patterns that the filter wants: what stands
// before the first wildcard decides.
bool concerns(const std::string& filter, const std::string& label) {
  const std::string wanted = filter.substr(0, filter.find('-'));
  if (wanted.empty()) return true;
  std::istringstream patterns(wanted);
  for (std::string pattern; std::getline(patterns, pattern, ':');) {
    const std::string begin = pattern.substr(0, pattern.find_first_of("*?"));
    const std::string suite = label + "_";
    if (begin.starts_with(suite) || suite.starts_with(begin)) return true;
  }
  return false;
}

// Thousands of questions tell which dtypes a plugin offers. For one test of one op, as ctest runs
// them, only that op is asked about; a test of something else needs all.
std::vector<const OpContract*> contracts_concerned(const std::string& filter) {
  std::vector<const OpContract*> all, named;
  const std::string test = names_one_test(filter) ? filter.substr(filter.find('.') + 1) : "";
  for (const OpContract* contract : all_contracts()) {
    if (!contract->is_measurable()) continue;  // nothing to compare with
    all.push_back(contract);
    if (test.starts_with(std::string(contract->name()) + "_")) named.push_back(contract);
  }
  return named.empty() ? all : named;
}

std::string dtypes_of(const OpContract& contract, const Params& params) {
  std::string text;
  for (const auto& spec : contract.params()) {
    if (spec.kind != ParamKind::dtype) continue;
    text += (text.empty() ? "" : "_") + std::string(dtype_name(params.dtype(spec.name)));
  }
  return text;
}

// Collectives answer only in a group: asked there, when they run.
bool is_supported(Worker& worker, const OpUnderTest& op, const Params& params) {
  if (op.is_collective) return true;
  const Problem problem{std::string(op.contract->name()), params};
  const auto answer = worker.supports("", problem, {Config{}});
  return answer && !answer->status.empty() && answer->status.front() == 0;
}

OpUnderTest examine(Worker& worker, const OpContract& contract,
                    const std::vector<protocol::KernelDescription>& kernels) {
  OpUnderTest op{.contract = &contract};
  for (const auto& kernel : kernels) {
    if (kernel.op != contract.name()) continue;
    op.kernels.push_back(kernel.name);
    op.is_collective = op.is_collective || kernel.collective;
  }
  if (op.kernels.empty()) return op;
  for (const auto& params : contract.conformance_params(every_dtype)) {
    if (!is_supported(worker, op, params)) {
      op.unsupported.push_back(params);
      continue;
    }
    const auto dtypes = dtypes_of(contract, params);
    auto found = std::ranges::find(op.combinations, dtypes, &Combination::dtypes);
    if (found == op.combinations.end()) {
      found = op.combinations.insert(op.combinations.end(), Combination{dtypes, {}});
    }
    found->problems.push_back(params);
  }
  return op;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text.empty() ? "no device, and the plugin logged no reason" : text;
}

PluginUnderTest examine(const std::string& path, std::span<const OpContract* const> contracts,
                        const Config& options) {
  PluginUnderTest plugin{.label = label_of(path), .path = path};
  auto worker = Worker::start(worker_options());
  if (!worker) {
    plugin.fault = "no worker: " + worker.failure.reason;
    return plugin;
  }
  const auto description = (*worker)->load(path);
  if (!description) {
    plugin.fault = description.failure.reason;
    return plugin;
  }
  if (description->devices.empty()) plugin.absence = joined(description->log);
  for (std::uint32_t index = 0; index < description->devices.size(); ++index) {
    const auto opened = (*worker)->open(index, options);
    if (!opened) {
      plugin.fault = "device " + std::to_string(index) + ": " + opened.failure.reason;
      return plugin;
    }
    DeviceUnderTest device{
        .index = index, .options = options, .description = description->devices[index]};
    for (const auto* contract : contracts) {
      auto op = examine(**worker, *contract, description->kernels);
      if (!op.kernels.empty()) device.ops.push_back(std::move(op));
    }
    plugin.devices.push_back(std::move(device));
    if (index + 1 == description->devices.size()) {
      keep_worker(path, index, *std::move(worker));  // its tests begin with it
    } else {
      (*worker)->close();
    }
  }
  return plugin;
}

class Body : public ::testing::Test {
 public:
  explicit Body(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

}  // namespace

std::span<const Dtype> dtypes_under_test() { return every_dtype; }

std::vector<PluginUnderTest> find_plugins(const std::vector<std::string>& extra_paths,
                                          const std::string& filter, bool searches_installed,
                                          const Config& options) {
  DiscoveryOptions search;
  search.paths = extra_paths;
  search.search_installed = searches_installed;
  std::vector<PluginUnderTest> plugins;
  for (const auto& candidate : plugin_candidates(search)) {
    if (!concerns(filter, label_of(candidate.path))) continue;
    if (candidate.refusal.empty()) {
      plugins.push_back(examine(candidate.path, contracts_concerned(filter), options));
    } else {
      plugins.push_back(
          {.label = label_of(candidate.path), .path = candidate.path, .fault = candidate.refusal});
    }
  }
  return plugins;
}

void add_test(const PluginUnderTest& plugin, const DeviceUnderTest& device, const std::string& name,
              std::function<void()> body) {
  const auto suite = plugin.label + "_" + identifier(device.description.id);
  ::testing::RegisterTest(
      suite.c_str(), identifier(name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [body = std::move(body)]() -> ::testing::Test* { return new Body(body); });
}

}  // namespace halmark::conformance
