#include "tune/stored/stored_plan.hpp"

#include <sstream>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

// Lines "key value" of version 0.1.0.
std::vector<std::string> values_of(const std::string& text, const std::string& key) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ' ')) out.push_back(line.substr(key.size() + 1));
  }
  return out;
}

std::string first_of(const std::vector<std::string>& values, const std::string& otherwise) {
  return values.empty() ? otherwise : values.front();
}

StoredPlan read_lines(const std::string& text) {
  return {.is_of_this_version = false,
          .sweep = first_of(values_of(text, "sweep"), "run"),
          .model = first_of(values_of(text, "model"), ""),
          .objectives = values_of(text, "objective"),
          .left_out = values_of(text, "left_out")};
}

}  // namespace

StoredPlan read_stored_plan(const std::string& text) {
  if (!text.starts_with('{')) return read_lines(text);
  try {
    const Json plan = Json::parse(text);
    StoredPlan out{.is_of_this_version = plan.at("plan") == 2,
                   .sweep = plan.at("sweep"),
                   .model = plan.at("model"),
                   .objectives = plan.at("objectives")};
    if (plan.contains("left_out")) out.left_out = plan.at("left_out");
    return out;
  } catch (const Json::exception& e) {
    throw refused(std::string("the stored plan cannot be read: ") + e.what(), {},
                  "halmark verify says what is damaged");
  }
}

std::string unfinished_old_run(const Store& store, const std::string& sweep) {
  const auto latest = store.latest_sweep();
  if (!latest) return {};
  const RunInfo info = store.run_info(*latest);
  const StoredPlan old = read_stored_plan(info.plan_text);
  if (old.is_of_this_version || info.plan_text.empty() || old.sweep != sweep) return {};
  if (!store.rows<Evaluation>(*latest).empty()) return {};
  return "run " + std::to_string(*latest) + " of this sweep was not finished by halmark " +
         info.tool_version + "; it is kept, and a new run begins";
}

}  // namespace halmark::tune
