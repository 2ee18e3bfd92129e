// A graph compiled for a device, with one infer request whose tensors are the caller's memory.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir.hpp"
#include "runtime.hpp"

namespace hm_openvino {

struct CompileOptions {
  std::string device;
  std::int32_t precision = HM_DTYPE_F32;  // F32, BF16 or F16
  int threads = 0;                        // of the CPU device; others take none
};

class CompiledGraph {
 public:
  // Reads and compiles; HM_COMPILE_FAILED with the runtime's message where the device refuses.
  CompiledGraph(const Runtime& runtime, const Graph& graph, std::vector<char> blob,
                const CompileOptions& options);
  // One execution, done when it returns. pointers[i] is the buffer of operands[i]; constants are
  // not looked at.
  void infer(const std::vector<plug::Operand>& operands, std::span<void* const> pointers);

 private:
  const ov_tensor* tensor_of(const plug::Operand& operand, std::size_t index, void* data);
  void bind(const std::vector<plug::Operand>& operands, std::span<void* const> pointers);

  const Runtime& runtime_;
  std::vector<char> blob_;  // the model's constants lie here
  Handle<ov_compiled_model> model_{nullptr, nullptr};
  Handle<ov_infer_request> request_{nullptr, nullptr};
  // Wrapped once per buffer: a ring has few, and wrapping allocates.
  std::map<std::pair<std::size_t, void*>, Handle<ov_tensor>> tensors_;
  std::vector<void*> bound_;
};

}  // namespace hm_openvino
