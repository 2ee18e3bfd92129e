#include "model/spec/model_names.hpp"

#include <algorithm>
#include <cctype>

#include "core/json/json.hpp"

namespace halmark {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// "organisation/name", of characters that a hub takes.
bool is_of_hub(std::string_view name) {
  return std::ranges::count(name, '/') == 1 && std::ranges::all_of(name, [](char c) {
           return is_alphanumeric(c) || std::string_view("-_./").find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string normalised(std::string_view name, Points points) {
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  std::string out;
  for (const char c : name) {
    const bool counts = is_alphanumeric(c) || (c == '.' && points == Points::kept);
    if (counts) out += lower(c);
  }
  return out;
}

std::vector<std::string> model_names(const Json& document) {
  std::vector<std::string> out = {document.at("id").get<std::string>()};
  const auto aliases = document.find("aliases");
  if (aliases == document.end() || !aliases->is_array()) return out;
  for (const Json& alias : *aliases) {
    if (alias.is_string()) out.push_back(alias.get<std::string>());
  }
  return out;
}

std::string kept_name(const std::vector<std::string>& names, std::string_view asked) {
  const auto is_same = [&](const std::string& name) {
    return std::ranges::equal(name, asked, {}, lower, lower);
  };
  if (const auto it = std::ranges::find_if(names, is_same); it != names.end()) return *it;
  for (const Points points : {Points::kept, Points::dropped}) {
    const std::string wanted = normalised(asked, points);
    for (const std::string& name : names) {
      if (normalised(name, points) != wanted) continue;
      return is_of_hub(asked) ? std::string(asked) : name;
    }
  }
  return names.front();
}

std::string checkpoint_name(const Json& document, const std::string& name) {
  const auto stated = document.find("checkpoints");
  if (stated != document.end() && stated->is_object()) {
    const auto it = stated->find(name);
    if (it != stated->end() && it->is_string()) return it->get<std::string>();
  }
  const std::vector<std::string> names = model_names(document);
  if (name != names.front()) return name;
  const auto hub = std::ranges::find_if(names, is_of_hub);
  return hub != names.end() ? *hub : name;
}

}  // namespace halmark
