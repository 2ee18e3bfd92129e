// The decoder layer of a point's step as OpenVINO IR, for the runtime's own benchmark app.
#pragma once

#include <string>

#include "core/chosen/configuration.hpp"
#include "export/ir/decoder_layer.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::deploy {

// Throws Error (exit 2) naming what is not written: architectures beyond dense decoders of gated
// networks behind RMS norms, several devices, requests, other weights than f32 and bf16.
exports::DecoderLayer layer_of(const ModelSpec& spec, const Configuration& configuration);

// Writes OUT.xml and OUT.bin (`out` with or without ".xml"), and says how the app is started.
report::View exported_layer(const ModelSpec& spec, const Configuration& configuration,
                            std::string out);

}  // namespace halmark::deploy
