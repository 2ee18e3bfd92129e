#include "deploy/engine/openvino_layer.hpp"

#include "core/text/error.hpp"
#include "deploy/engine/random_checkpoint.hpp"

namespace halmark::deploy {

exports::DecoderLayer layer_of(const ModelSpec& spec, const Configuration& c) {
  const auto refuse = [&](const std::string& what) {
    throw refused("no layer of it is written as OpenVINO IR: it has " + what, c.key(),
                  "a step of a dense decoder on one device, in f32 or bf16");
  };
  if (const std::string what = unwritten(spec); !what.empty()) refuse(what);
  if (spec.rotary_dim != spec.head_dim) refuse("heads that are rotated in part");
  if (c.served) refuse("requests, not a step");
  if (c.devices() != 1) refuse(std::to_string(c.devices()) + " devices");
  const Dtype weights = c.precision.ffn;
  if ((weights != Dtype::f32 && weights != Dtype::bf16) || c.precision.qkv != weights ||
      c.precision.output != weights) {
    refuse("weights of " + c.precision.name);
  }
  return {.name = "decoder_layer",
          .hidden = spec.hidden,
          .heads = spec.heads,
          .kv_heads = spec.kv_heads,
          .head_dim = spec.head_dim,
          .intermediate = spec.intermediate,
          .qk_norm = spec.qk_norm,
          .qkv_bias = spec.qkv_bias,
          .weights = weights,
          .batch = c.workload.batch,
          .new_tokens = c.workload.new_tokens,
          .context = c.workload.context};
}

report::View exported_layer(const ModelSpec& spec, const Configuration& configuration,
                            std::string out) {
  if (out.ends_with(".xml")) out.resize(out.size() - 4);
  if (out.empty() || out.ends_with('/')) {
    throw refused("no file is named for the IR", "--out", "--out NAME writes NAME.xml, NAME.bin");
  }
  const exports::DecoderLayer layer = layer_of(spec, configuration);
  exports::write_layer_ir(layer, out);
  const std::string run = "benchmark_app -m " + out +
                          ".xml -d CPU -api sync -hint latency "
                          "-infer_precision " +
                          std::string(dtype_name(layer.weights));
  report::View view;
  view.data = {{"written", {out + ".xml", out + ".bin"}},
               {"layers_of_model", spec.layers},
               {"command", run}};
  view.text = "written: " + out + ".xml\nwritten: " + out + ".bin\none of the " +
              std::to_string(spec.layers) + " layers of " + configuration.key() +
              ", random weights; time it with\n  " + run + '\n';
  return view;
}

}  // namespace halmark::deploy
