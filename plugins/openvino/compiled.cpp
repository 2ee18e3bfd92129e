#include "compiled.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <span>

namespace hm_openvino {
namespace {

// A ring has at most a few hundred sets; beyond that old wrappers are dropped.
constexpr std::size_t tensors_max = 4096;

const char* hint_of(std::int32_t precision) {
  if (precision == HM_DTYPE_BF16) return "bf16";
  return precision == HM_DTYPE_F16 ? "f16" : "f32";
}

// One stream, so that all threads serve one inference. On the CPU the threads are those of the
// part that the host cut; it has set the affinity, so the runtime does not pin on its own.
ov_compiled_model* compile(const Runtime& runtime, const ov_model* model,
                           const CompileOptions& options) {
  ov_compiled_model* out = nullptr;
  const Api& api = runtime.api();
  const char* device = options.device.c_str();
  const char* hint = hint_of(options.precision);
  if (options.device != "CPU") {
    runtime.check(
        api.core_compile_model(runtime.core(), model, device, 6, &out, "NUM_STREAMS", "1",
                               "PERFORMANCE_HINT", "LATENCY", "INFERENCE_PRECISION_HINT", hint),
        "compiling", HM_COMPILE_FAILED);
    return out;
  }
  const std::string threads = std::to_string(options.threads);
  runtime.check(api.core_compile_model(runtime.core(), model, device, 12, &out, "NUM_STREAMS", "1",
                                       "PERFORMANCE_HINT", "LATENCY", "INFERENCE_PRECISION_HINT",
                                       hint, "INFERENCE_NUM_THREADS", threads.c_str(),
                                       "ENABLE_CPU_PINNING", "NO", "ENABLE_HYPER_THREADING", "YES"),
                "compiling", HM_COMPILE_FAILED);
  return out;
}

// For the runtime's own tools: HALMARK_OPENVINO_IR=FOLDER keeps every graph, named by its kernel
// and a digest of its text, with the weights that came last.
void keep(const Graph& graph, const std::vector<char>& blob) {
  const char* folder = std::getenv("HALMARK_OPENVINO_IR");
  if (folder == nullptr || *folder == 0) return;
  const std::string xml = graph.xml();
  const std::string digest = std::to_string(std::hash<std::string>()(xml));
  const std::string path = folder + ("/" + graph.name() + "-" + digest);
  const auto write = [](const std::string& file, std::span<const char> bytes) {
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
      throw plug::failure(HM_COMPILE_FAILED, "HALMARK_OPENVINO_IR: cannot write " + file);
    }
  };
  write(path + ".xml", xml);
  write(path + ".bin", blob);
}

}  // namespace

CompiledGraph::CompiledGraph(const Runtime& runtime, const Graph& graph, std::vector<char> blob,
                             const CompileOptions& options)
    : runtime_(runtime), blob_(std::move(blob)) {
  keep(graph, blob_);
  Handle<ov_tensor> weights(nullptr, runtime.api().tensor_free);
  if (!blob_.empty()) weights = runtime.byte_tensor(blob_);
  const Handle<ov_model> model = runtime.read(graph.xml(), weights.get());
  model_ = {compile(runtime, model.get(), options), runtime.api().compiled_model_free};
  ov_infer_request* request = nullptr;
  runtime.check(runtime.api().compiled_model_create_infer_request(model_.get(), &request),
                "creating an infer request", HM_COMPILE_FAILED);
  request_ = {request, runtime.api().infer_request_free};
}

const ov_tensor* CompiledGraph::tensor_of(const plug::Operand& operand, std::size_t index,
                                          void* data) {
  const auto key = std::pair(index, data);
  const auto known = tensors_.find(key);
  if (known != tensors_.end()) return known->second.get();
  if (tensors_.size() >= tensors_max) tensors_.clear();
  return tensors_.emplace(key, runtime_.tensor(operand.dtype, operand.dims, data))
      .first->second.get();
}

void CompiledGraph::bind(const std::vector<plug::Operand>& operands,
                         std::span<void* const> pointers) {
  const Api& api = runtime_.api();
  std::size_t outputs = 0;  // results of a graph stand in the order of the outputs
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == HM_ROLE_CONSTANT) continue;
    const ov_tensor* tensor = tensor_of(operands[i], i, pointers[i]);
    const ov_status status =
        operands[i].role == HM_ROLE_OUTPUT
            ? api.infer_request_set_output_tensor_by_index(request_.get(), outputs++, tensor)
            : api.infer_request_set_tensor(request_.get(), operands[i].name.c_str(), tensor);
    runtime_.check(status, "setting a tensor", HM_LAUNCH_FAILED);
  }
  bound_.assign(pointers.begin(), pointers.end());
}

void CompiledGraph::infer(const std::vector<plug::Operand>& operands,
                          std::span<void* const> pointers) {
  if (!std::ranges::equal(bound_, pointers)) bind(operands, pointers);
  runtime_.check(runtime_.api().infer_request_infer(request_.get()), "inference", HM_LAUNCH_FAILED);
}

}  // namespace hm_openvino
