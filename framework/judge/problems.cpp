#include "judge/problems.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"

namespace halmark::judge {
namespace {

bool is_size(const OpContract& contract, const std::string& name) {
  const auto specs = contract.params();
  const auto* spec = find_or_null(specs, name, &ParamSpec::name);
  return spec && spec->kind == ParamKind::size;
}

std::vector<Dtype> dtypes_of(const Params& params, const OpContract& contract) {
  std::set<Dtype> out;
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind == ParamKind::dtype) out.insert(params.dtype(spec.name));
  }
  return {out.begin(), out.end()};
}

std::int64_t number_in(std::string_view word, const std::string& statement) {
  const auto value = read_number<std::int64_t>(word);
  if (!value || *value < 1) {
    throw refused("'" + std::string(word) + "' is neither a size of the op nor a whole number",
                  "halmark: " + statement,
                  "write global = n/4, m; local = 16, 16 with the names that the entry has");
  }
  return *value;
}

std::string without_blanks(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [](char c) { return c > ' '; });
  return out;
}

// The words between commas behind "key=" and in front of ';'.
std::vector<std::string> listed(const std::string& statement, const std::string& key) {
  const std::size_t begin = statement.find(key + "=");
  if (begin == std::string::npos) return {};
  const std::size_t first = begin + key.size() + 1;
  std::istringstream words(statement.substr(first, statement.find(';', first) - first));
  std::vector<std::string> out;
  for (std::string word; std::getline(words, word, ',');) out.push_back(word);
  return out;
}

std::int64_t items_of(const std::string& term, const std::string& statement,
                      const OpContract& contract, const Params& params) {
  const std::size_t slash = term.find('/');
  const std::vector<std::string> names = entry_sizes(contract);
  std::int64_t items = 1;
  std::istringstream factors(term.substr(0, slash));
  for (std::string factor; std::getline(factors, factor, '*');) {
    const bool is_name = contains(names, factor);
    items *= is_name ? params.at(factor) : number_in(factor, statement);
  }
  if (slash == std::string::npos) return items;
  const std::int64_t each = number_in(std::string_view(term).substr(slash + 1), statement);
  return (items + each - 1) / each;
}

std::string words_of(const char* key, const std::vector<std::int64_t>& values) {
  std::string out = key;
  for (const std::int64_t value : values) out += ' ' + std::to_string(value);
  return out + '\n';
}

}  // namespace

bool are_alike(const OpContract& contract, const Params& params, const Params& asked) {
  return std::ranges::all_of(params.items(), [&](const Param& param) {
    return is_size(contract, param.name) || asked.find(param.name) == param.value;
  });
}

std::vector<Problem> conformance_problems(const OpContract& contract, const Problem& asked) {
  std::vector<Problem> out;
  for (const Params& params : contract.conformance_params(dtypes_of(asked.params, contract))) {
    const Problem problem = complete_problem({asked.op, params});
    if (are_alike(contract, problem.params, asked.params) && !contains(out, problem)) {
      out.push_back(problem);
    }
  }
  return out;
}

std::string launch_statement(const std::string& source) {
  constexpr std::string_view key = "halmark:";
  const std::size_t at = source.find(key);
  if (at == std::string::npos) return {};
  const std::size_t first = at + key.size();
  std::string line = source.substr(first, source.find('\n', first) - first);
  if (const std::size_t end = line.find("*/"); end != std::string::npos) line.resize(end);
  return without_blanks(line);
}

LaunchRange launch_range(const std::string& statement, const OpContract& contract,
                         const Params& params) {
  LaunchRange out;
  for (const std::string& word : listed(statement, "local")) {
    out.local.push_back(number_in(word, statement));
  }
  for (const std::string& term : listed(statement, "global")) {
    const std::int64_t items = items_of(term, statement, contract, params);
    const std::size_t at = out.global.size();
    const std::int64_t group = at < out.local.size() ? out.local[at] : 1;
    out.global.push_back((items + group - 1) / group * group);
  }
  if (!statement.empty() && (out.global.empty() || out.global.size() > 3 ||
                             (!out.local.empty() && out.local.size() != out.global.size()))) {
    throw refused(
        "it must give one to three global sizes, and the same number of local ones or none",
        "halmark: " + statement, "write global = n/4, m; local = 16, 16");
  }
  if (!out.global.empty()) return out;
  const std::vector<OperandSpec> operands = contract.operands(params);
  auto* output = find_or_null(operands, true, [](const OperandSpec& o) {
    return o.role == Role::output || o.role == Role::in_out;
  });
  out.global.push_back(!output ? 1 : output->elements());
  return out;
}

std::string carried_text(const OpContract& contract, std::span<const Problem> problems,
                         const CarriedText& names) {
  std::set<Problem> all(problems.begin(), problems.end());
  for (const Problem& problem : problems) {
    all.insert(complete_problem({problem.op, contract.twin(problem.params)}));
  }
  std::string out = "kernel " + names.kernel + "\nop " + std::string(contract.name()) +
                    "\nsource " + names.source + '\n';
  for (const Problem& problem : all) {
    out += "problem\n";
    for (const Param& p : problem.params.items()) {
      out += "param " + p.name + ' ' + std::to_string(p.value) + '\n';
    }
    for (const OperandSpec& o : contract.operands(problem.params)) {
      const std::string head = "operand " + o.name + ' ' + std::to_string(as_int(o.role)) + ' ' +
                               std::to_string(as_int(o.dtype));
      out += words_of(head.c_str(), o.dims);
    }
    for (const std::string& name : entry_sizes(contract)) {
      out += "size " + std::to_string(problem.params.at(name)) + '\n';
    }
    const LaunchRange range = launch_range(names.launch, contract, problem.params);
    out += words_of("global", range.global);
    if (!range.local.empty()) out += words_of("local", range.local);
  }
  return out;
}

}  // namespace halmark::judge
