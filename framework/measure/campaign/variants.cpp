#include "measure/campaign/variants.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/case_group.hpp"

namespace halmark {
namespace {

using protocol::DomainDescription;
using Domains = std::vector<DomainDescription>;

// Position of each domain's value; the same positions are the same config.
using Choice = std::vector<std::size_t>;

std::size_t default_index(const DomainDescription& domain) {
  const auto at = std::ranges::find(domain.values, domain.default_value);
  return as_size(at - domain.values.begin());
}

Choice default_choice(std::span<const DomainDescription> domains) {
  Choice out;
  for (const DomainDescription& domain : domains) out.push_back(default_index(domain));
  return out;
}

// Parameters in name order, as problems and records have them.
Config config_of(std::span<const DomainDescription> domains, const Choice& choice) {
  Config out;
  if (choice == default_choice(domains)) return out;
  for (const auto i : indices(domains)) {
    out.params.set(domains[i].name, domains[i].values[choice[i]]);
    if (!domains[i].labels.empty()) {
      out.labels.emplace_back(domains[i].name, domains[i].labels[choice[i]]);
    }
  }
  std::ranges::sort(out.labels);
  return out;
}

std::vector<Choice> all_choices(std::span<const DomainDescription> domains) {
  std::vector<Choice> out{{}};
  for (const DomainDescription& domain : domains) {
    std::vector<Choice> longer;
    for (const Choice& choice : out) {
      for (const auto value : indices(domain.values)) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

std::vector<Choice> one_at_a_time(std::span<const DomainDescription> domains) {
  std::vector<Choice> out;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    for (std::size_t value = 0; value < domains[i].values.size(); ++value) {
      Choice choice = default_choice(domains);
      choice[i] = value;
      out.push_back(std::move(choice));
    }
  }
  return out;
}

// Saturates: only its comparison with a limit is of interest.
std::size_t combinations_of(std::span<const DomainDescription> domains) {
  constexpr std::size_t enough = 1u << 24;
  std::size_t out = 1;
  for (const DomainDescription& domain : domains) {
    out = std::min(enough, out * domain.values.size());
  }
  return out;
}

// By label first: labels may look like numbers.
std::size_t value_index(const DomainDescription& domain, const std::string& text) {
  const auto label = std::ranges::find(domain.labels, text);
  if (label != domain.labels.end()) {
    return as_size(label - domain.labels.begin());
  }
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto value = std::ranges::find(domain.values, number);
  if (code == std::errc{} && end == text.data() + text.size() && domain.labels.empty() &&
      value != domain.values.end()) {
    return as_size(value - domain.values.begin());
  }
  std::vector<std::string> known = domain.labels;
  if (known.empty()) {
    for (const std::int64_t v : domain.values) known.push_back(std::to_string(v));
  }
  throw refused("--variants: " + domain.name + " has no value '" + text + "'", {},
                suggestion(text, known));
}

Config config_of(std::span<const DomainDescription> domains, const VariantFilter& filter) {
  Choice choice = default_choice(domains);
  for (const auto& [name, text] : filter.values) {
    const auto domain = std::ranges::find(domains, name, &DomainDescription::name);
    if (domain == domains.end()) {
      auto known = mapped(domains, &DomainDescription::name);
      throw refused("--variants: " + filter.kernel + " has no parameter '" + name + "'", {},
                    suggestion(name, known));
    }
    choice[as_size(domain - domains.begin())] = value_index(*domain, text);
  }
  return config_of(domains, choice);
}

template <class Value>
Value take(Outcome<Value> outcome, const std::string& what) {
  if (!outcome) {
    throw unfit(what + ": " + outcome.failure.reason, "halmark doctor checks the plugin");
  }
  return std::move(*outcome);
}

// One worker with the device of one cut open.
class Interview {
 public:
  Interview(const CaseGroup& group, const VariantOptions& options) : options_(options) {
    WorkerOptions worker{.place = group.place(0),
                         .environment = options.environment,
                         .cache_dir = options.cache_dir,
                         .limits = options.limits};
    worker_ = take(Worker::start(worker), "no worker");
    plugin_ = take(worker_->load(options.plugin_path), options.plugin_path);
    const auto device =
        std::ranges::find(plugin_.devices, group.device, &protocol::DeviceDescription::id);
    if (device == plugin_.devices.end()) {
      throw unfit("plugin " + plugin_.name + " has no device " + group.device);
    }
    take(worker_->open(as_uint32(device - plugin_.devices.begin()), options.open_options),
         "device " + group.device);
  }
  ~Interview() { worker_->quit(); }
  Interview(const Interview&) = delete;
  Interview& operator=(const Interview&) = delete;

  VariantSet ask(const KernelCase& question) {
    VariantSet out{.question = question};
    out.question.problem = complete_problem(question.problem);
    for (const protocol::KernelDescription& kernel : plugin_.kernels) {
      if (kernel.op == question.problem.op) add_kernel(kernel.name, out);
    }
    if (out.variants.empty() && out.notes.empty()) {
      out.notes.push_back("no kernel implements " + question.problem.op);
    }
    return out;
  }

 private:
  void add_kernel(const std::string& kernel, VariantSet& out) {
    const Problem& problem = out.question.problem;
    const auto by_default = take(worker_->supports(kernel, problem, {Config{}}), kernel);
    if (by_default.status.at(0) != 0) {
      out.notes.push_back("not measured: " + by_default.reason.at(0));
      return;
    }
    // The first kernel that supports a problem is what the plugin runs when nobody chooses.
    const bool is_first = out.variants.empty();
    const auto domains = take(worker_->domains(kernel, problem), kernel);
    std::vector<Config> configs = wanted(kernel, domains, out);
    if (is_first && !contains(configs, Config{})) {
      configs.insert(configs.begin(), Config{});
    }
    add_supported(kernel, configs, is_first, out);
  }

  std::vector<Config> wanted(const std::string& kernel, const Domains& domains,
                             VariantSet& out) const {
    std::vector<Config> configs;
    const auto is_here = [&](const VariantFilter& f) { return f.kernel == kernel; };
    const bool takes_all = options_.filters.empty() ||
                           std::ranges::any_of(options_.filters, [&](const VariantFilter& f) {
                             return is_here(f) && f.values.empty();
                           });
    if (takes_all) {
      const std::size_t combinations = combinations_of(domains);
      if (combinations > options_.combinations_max) {
        out.notes.push_back(kernel + ": one parameter at a time, not all " +
                            std::to_string(combinations) + " combinations");
      }
      return configs_of(domains, options_.combinations_max);
    }
    for (const VariantFilter& filter : options_.filters) {
      if (!is_here(filter)) continue;
      Config config = config_of(domains, filter);
      if (!contains(configs, config)) configs.push_back(std::move(config));
    }
    return configs;
  }

  void add_supported(const std::string& kernel, const std::vector<Config>& configs, bool is_first,
                     VariantSet& out) {
    if (configs.empty()) return;
    const auto answer = take(worker_->supports(kernel, out.question.problem, configs), kernel);
    std::size_t refused_count = 0;
    std::string reason;
    for (const auto i : indices(configs)) {
      if (answer.status.at(i) == 0) {
        out.variants.push_back({kernel, configs[i], is_first && configs[i] == Config{}});
      } else if (refused_count++ == 0) {
        reason = configs[i].text() + ": " + answer.reason.at(i);
      }
    }
    if (refused_count > 0) {
      out.notes.push_back("not measured: " + std::to_string(refused_count) + " configs of " +
                          kernel + ", the first " + reason);
    }
  }

  const VariantOptions& options_;
  std::unique_ptr<Worker> worker_;
  protocol::PluginDescription plugin_;
};

}  // namespace

std::vector<Config> configs_of(std::span<const DomainDescription> domains,
                               std::size_t combinations_max) {
  std::vector<Config> out{Config{}};
  const auto choices =
      combinations_of(domains) <= combinations_max ? all_choices(domains) : one_at_a_time(domains);
  for (const Choice& choice : choices) {
    Config config = config_of(domains, choice);
    if (config != Config{}) out.push_back(std::move(config));
  }
  return out;
}

std::vector<VariantSet> find_variants(std::span<const KernelCase> questions,
                                      const VariantOptions& options) {
  std::vector<VariantSet> out;
  std::unique_ptr<Interview> interview;
  CaseGroup asked;
  for (const KernelCase& question : questions) {
    const CaseGroup group = case_group(question);
    if (!interview || group != asked) {
      interview.reset();
      interview = std::make_unique<Interview>(group, options);
      asked = group;
    }
    out.push_back(interview->ask(question));
  }
  return out;
}

}  // namespace halmark
