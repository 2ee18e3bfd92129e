#include "model/spec/config_reader.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "model/spec/upstream_defaults.hpp"

namespace halmark {

std::string shown(const Json& value) {
  std::string text = printable(value.dump(-1, ' ', true, Json::error_handler_t::replace));
  constexpr std::size_t shown_max = 40;
  return text.size() <= shown_max ? text : text.substr(0, shown_max) + "...";
}

namespace {

// Objects that hold the language tower of a larger model.
constexpr std::array towers = {"text_config",    "llm_config",   "language_config",
                               "thinker_config", "lm_config",    "text_model_config",
                               "language_model", "llm_backbone", "text_model"};

// What `path` leads to below `level`, null included; nothing when it leads nowhere.
const Json* at_path(const Json* level, std::string_view path) {
  while (!path.empty()) {
    if (!level->is_object()) return nullptr;
    const auto dot = path.find('.');
    const auto it = level->find(std::string(path.substr(0, dot)));
    if (it == level->end()) return nullptr;
    level = &*it;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return level;
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || value == 0 ||
         ((value.is_string() || value.is_structured()) && value.empty());
}

}  // namespace

ConfigReader::ConfigReader(const Json& config, std::string where)
    : levels_{&config},
      where_(std::move(where)),
      defaults_(std::make_unique<Json>(Json::object())),
      upstream_(std::make_unique<Json>(Json::object())) {
  if (!config.is_object()) {
    throw refused("a model configuration must be a JSON object, found " + shown(config), where_);
  }
  for (bool is_deeper = true; is_deeper;) {
    is_deeper = false;
    for (const char* tower : towers) {
      const auto nested = levels_.front()->find(tower);
      if (nested == levels_.front()->end() || nested->is_null() || nested->is_string()) continue;
      if (!nested->is_object()) refuse(tower, "must be an object, found " + shown(*nested));
      levels_.insert(levels_.begin(), &*nested);
      is_deeper = true;
      break;
    }
  }
}

ConfigReader::~ConfigReader() = default;
ConfigReader::ConfigReader(ConfigReader&&) noexcept = default;
ConfigReader& ConfigReader::operator=(ConfigReader&&) noexcept = default;

const Json* ConfigReader::find_stated(std::string_view path) const {
  for (const Json* level : levels_) {
    const Json* value = at_path(level, path);
    if (value != nullptr && !value->is_null()) return value;
  }
  return nullptr;
}

// A field that is null is stated: upstream's default is for fields that are not there.
const Json* ConfigReader::find_upstream(std::string_view field) const {
  const auto it = upstream_->find(std::string(field));
  if (it == upstream_->end()) return nullptr;
  const auto other = other_names_.find(field);
  for (const Json* level : levels_) {
    if (at_path(level, field) != nullptr) return nullptr;
    if (other != other_names_.end() && at_path(level, other->second) != nullptr) return nullptr;
  }
  std::string text = std::string(field) + " = " + shown(*it) +
                     " (not in the configuration; the default of its model type)";
  if (!says_nothing(*it) && !contains(assumed_, text)) {
    assumed_.push_back(std::move(text));
  }
  return &*it;
}

const Json* ConfigReader::find(std::string_view field) const {
  asked_.emplace(field);
  if (const Json* stated = find_stated(field)) return stated;
  if (const auto other = other_names_.find(field); other != other_names_.end()) {
    if (const Json* stated = find_stated(other->second)) return stated;
  }
  if (const auto it = defaults_->find(std::string(field)); it != defaults_->end()) return &*it;
  return find_upstream(field);
}

// A file that is about one model alone and leaves out its sizes is not finished; one that nests the
// language tower leaves out what its class says anyway.
void ConfigReader::take_defaults_of(std::string_view model_type) {
  const std::string_view text = upstream_defaults(model_type);
  if (text.empty()) return;
  *upstream_ = parse_json(text, "defaults of " + std::string(model_type));
  if (is_nested()) return;
  for (const char* size : {"num_hidden_layers", "hidden_size", "num_attention_heads",
                           "intermediate_size", "moe_intermediate_size", "vocab_size"}) {
    upstream_->erase(size);
  }
}

std::vector<std::string> ConfigReader::not_asked() const {
  std::set<std::string> out;
  const auto is_prefix = [this](const std::string& path) {
    const auto it = asked_.lower_bound(path + '.');
    return it != asked_.end() && it->starts_with(path + '.');
  };
  const std::function<void(const Json&, const std::string&)> visit = [&](const Json& object,
                                                                         const std::string& under) {
    for (const auto& [key, value] : object.items()) {
      const std::string path = under + key;
      if (says_nothing(value) || asked_.contains(path)) continue;
      if (contains(towers, path) && value.is_object()) continue;
      if (value.is_object() && is_prefix(path)) {
        visit(value, path + '.');
      } else {
        out.insert(path);
      }
    }
  };
  visit(*levels_.front(), "");
  return {out.begin(), out.end()};
}

void ConfigReader::set_default(std::string_view field, const Value& value) {
  if (find(field) != nullptr) return;
  set_derived(field, value);
  assume(std::string(field) + " = " + shown(*defaults_->find(std::string(field))) +
         " (not in the configuration)");
}

void ConfigReader::set_derived(std::string_view field, const Value& value) {
  std::visit([&](const auto& stated) { (*defaults_)[std::string(field)] = stated; }, value);
}

void ConfigReader::also_named(std::string_view field, std::string_view other) {
  asked_.emplace(field);
  asked_.emplace(other);
  const Json* own = find_stated(field);
  const Json* stated = find_stated(other);
  if (own != nullptr && stated != nullptr && *own != *stated) {
    refuse(other, "is " + shown(*stated) + ", but '" + printable(field) +
                      "', which means the same, is " + shown(*own));
  }
  if (stated != nullptr || other_names_.find(field) == other_names_.end()) {
    other_names_.insert_or_assign(std::string(field), std::string(other));
  }
}

void ConfigReader::refuse(std::string_view field, const std::string& problem) const {
  throw refused("field '" + printable(field) + "' " + problem, where_);
}

std::vector<std::string> ConfigReader::model_types() const {
  std::vector<std::string> out;
  for (const Json* level : levels_) {
    const auto it = level->find("model_type");
    if (it != level->end() && it->is_string()) out.insert(out.begin(), it->get<std::string>());
  }
  return out;
}

}  // namespace halmark
