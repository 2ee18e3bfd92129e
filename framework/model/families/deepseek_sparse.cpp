// DeepSeek-V3.2 and GLM-5: latent attention over the keys that an indexer chooses. In GLM-5.2 most
// layers share the choice of the layer before them.
#include <string>

#include "core/text/error.hpp"
#include "model/families/indexer.hpp"
#include "model/families/latent.hpp"

namespace halmark {

namespace {

void read_shared(ConfigReader& config, ModelSpec& spec) {
  const auto types = config.texts("indexer_types");
  if (!types) {
    if (config.is_set("index_topk_freq") && !config.is_one("index_topk_freq")) {
      config.refuse("index_topk_freq",
                    "says that layers share an index, and indexer_types does not say which");
    }
    return;
  }
  config.ignore({"index_topk_freq"});  // says the same
  if (types->size() != spec.indexer->runs.size()) {
    config.refuse("indexer_types", "lists " + std::to_string(types->size()) +
                                       " layers, but num_hidden_layers is " +
                                       std::to_string(spec.layers));
  }
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::string& type = (*types)[i];
    if (type != "full" && type != "shared") {
      config.refuse("indexer_types", "lists '" + printable(type) + "'; known: full, shared");
    }
    spec.indexer->runs[i] = type == "full";
  }
  if (!spec.indexer->runs.front()) {
    config.refuse("indexer_types", "has the first layer share an index that no layer made");
  }
}

void read_deepseek_sparse(ConfigReader& config, ModelSpec& spec) {
  latent::read(config, spec, {"index_topk", "index_topk_freq"});
  if (spec.latent->q_rank == 0) {
    config.refuse("q_lora_rank", "is missing; the indexer reads the low-rank query");
  }
  indexer::read(config, spec);
  read_shared(config, spec);
}

}  // namespace

extern const Family deepseek_sparse_family = {"deepseek_sparse",
                                              {"deepseek_v32", "glm_moe_dsa"},
                                              &read_deepseek_sparse,
                                              &latent::build,
                                              &latent::predict};

}  // namespace halmark
