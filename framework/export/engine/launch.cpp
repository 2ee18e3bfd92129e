#include "export/engine/launch.hpp"

#include <algorithm>

#include "export/engine/launch_rules.hpp"

namespace halmark::exports {
namespace {

struct Engine {
  const char* name;
  Launch (*launch)(const Deployment&, const EngineTable&);
};
constexpr Engine engines[] = {{"vllm", vllm_launch},
                              {"sglang", sglang_launch},
                              {"trtllm", trtllm_launch},
                              {"llamacpp", llamacpp_launch}};

}  // namespace

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Engine& e : engines) out.emplace_back(e.name);
    return out;
  }();
  return names;
}

Launch launch_of(const Deployment& deployment, const EngineTable& table) {
  refuse_for_all(table, deployment);
  const auto* engine = std::ranges::find(engines, table.engine, &Engine::name);
  if (engine == std::end(engines)) {
    throw refused("nothing is written for " + table.engine, "--as",
                  suggestion(table.engine, engine_names()));
  }
  return engine->launch(deployment, table);
}

}  // namespace halmark::exports
