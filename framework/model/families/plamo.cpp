// PLaMo: attention and a gated network side by side behind one RMSNorm; heads share keys by groups
// of a stated size.

#include "model/families/dense.hpp"

namespace halmark {

namespace {

void read_plamo(ConfigReader& config, ModelSpec& spec) {
  const std::int64_t heads = config.required_size("num_attention_heads");
  const std::int64_t shared = config.size_or("n_shared_head", 8);
  if (heads % shared != 0) config.refuse("n_shared_head", "does not divide num_attention_heads");
  config.ignore({"num_key_value_heads"});
  decoder::read_sizes(config, spec);
  dense::read_width(config, spec);
  spec.kv_heads = heads / shared;
  spec.is_parallel = true;
}

}  // namespace

extern const Family plamo_family = {"plamo", {"plamo"}, &read_plamo, &dense::build};

}  // namespace halmark
