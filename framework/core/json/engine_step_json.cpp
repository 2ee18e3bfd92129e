#include "core/json/engine_step_json.hpp"

#include "core/json/json_fields.hpp"

namespace halmark {

void to_json(Json& out, const EngineStep& s) {
  out = {{"engine", s.engine},
         {"engine_version", s.engine_version},
         {"model", s.model},
         {"model_id", s.model_id},
         {"precision", s.precision},
         {"device", s.device},
         {"phase", s.phase},
         {"batch", s.batch},
         {"input_tokens", s.input_tokens},
         {"output_tokens", s.output_tokens},
         {"cached_tokens", s.cached_tokens},
         {"step_ns", s.step_ns},
         {"deviation_ns", optional_number(s.deviation_ns)},
         {"least_ns", optional_number(s.least_ns)},
         {"most_ns", optional_number(s.most_ns)},
         {"samples", s.samples},
         {"how", s.how}};
}

void from_json(const Json& in, EngineStep& s) {
  s = {.engine = in.at("engine"),
       .engine_version = in.at("engine_version"),
       .model = in.at("model"),
       .model_id = in.at("model_id"),
       .precision = in.at("precision"),
       .device = in.at("device"),
       .phase = in.at("phase"),
       .batch = in.at("batch"),
       .input_tokens = in.at("input_tokens"),
       .output_tokens = in.at("output_tokens"),
       .cached_tokens = in.at("cached_tokens"),
       .step_ns = in.at("step_ns"),
       .deviation_ns = json_fields::number(in, "deviation_ns"),
       .least_ns = json_fields::number(in, "least_ns"),
       .most_ns = json_fields::number(in, "most_ns"),
       .samples = in.at("samples"),
       .how = in.at("how")};
}

void to_json(Json& out, const EngineImport& i) {
  out = {{"tool", i.tool},
         {"file", i.file},
         {"file_sha256", i.file_sha256},
         {"imported_utc", i.imported_utc},
         {"steps", i.steps}};
}

void from_json(const Json& in, EngineImport& i) {
  i = {.tool = in.at("tool"),
       .file = in.at("file"),
       .file_sha256 = in.at("file_sha256"),
       .imported_utc = in.at("imported_utc"),
       .steps = in.at("steps").get<std::vector<EngineStep>>()};
}

}  // namespace halmark
