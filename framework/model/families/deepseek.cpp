// DeepSeek-V2 and V3 and Kimi-K2: latent attention, the first layers dense, then routed and shared
// experts.
#include <array>

#include "model/families/latent.hpp"

namespace halmark {

namespace {

constexpr std::array<std::string_view, 4> deepseek_types = {"deepseek_v2", "deepseek_v3", "kimi_k2",
                                                            "kimi_k25"};

void read_deepseek(ConfigReader& config, ModelSpec& spec) { latent::read(config, spec, {}); }

}  // namespace

extern const Family deepseek_family;
const Family deepseek_family = {"deepseek", deepseek_types, &read_deepseek, &latent::build,
                                &latent::predict};

}  // namespace halmark
