// Traces: read, attributed, and compared with a small model. Where simdjson and zlib are there.
#include "feed.hpp"
#include "model/spec/model_spec.hpp"
#include "profile/comparison/comparison.hpp"
#include "profile/trace/attribution.hpp"
#include "survive.hpp"

namespace halmark::fuzz {
namespace {

const ModelSpec& small_model() {
  static const ModelSpec spec =
      read_model(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 16,
        "vocab_size": 32, "tie_word_embeddings": false})",
                 "small.json");
  return spec;
}

void compare(const trace::Recording& recording, const trace::Attribution& attribution) {
  trace::Comparison out;
  for (std::uint32_t pass = 0; pass < attribution.passes.size(); ++pass) {
    const auto workload = trace::workload_of(attribution, pass, small_model(), {});
    if (!workload) continue;
    const auto built = build_graph(small_model(), {.model = "small", .workload = *workload});
    const auto* graph = built.get();
    if (graph != nullptr) trace::compare_pass(recording, attribution, pass, *graph, 0.01, {}, out);
  }
  (void)out.unexplained();
}

}  // namespace

// Blocks are small, so that their edges fall everywhere.
void feed_trace(std::string_view text) {
  survive([&] {
    const auto source =
        trace::bytes_of(std::string(text), "trace.json", {.bytes_max = std::uint64_t{64} << 20});
    trace::Recording recording =
        trace::record(*source, "trace.json", {.block_bytes = 256, .event_bytes_max = 1u << 16});
    const trace::Attribution attribution = trace::attribute(recording);
    compare(recording, attribution);
  });
}

}  // namespace halmark::fuzz
