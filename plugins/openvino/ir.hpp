// A graph of OpenVINO operations with static shapes, written as IR version 11: the text that the
// runtime reads, and the constants that lie beside it. This backend's own writer; `halmark export`
// has another one, so that each can show an error of the other.
#pragma once

#include <halmark_plugin_values.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hm_openvino {

using Dims = std::vector<std::int64_t>;
std::int64_t elements_of(const Dims& dims);

// One output of a layer.
struct Value {
  std::size_t layer = 0;
  std::int32_t port = 0;
  std::int32_t dtype = 0;  // HM_DTYPE_*
  Dims dims;               // {} = scalar
};

// Attributes of a layer, in the order of writing.
using Attributes = std::vector<std::pair<std::string, std::string>>;

// A constant that load_constants fills in: `operand` of the problem, at `offset` of the blob.
struct WeightPlace {
  std::size_t operand = 0;
  std::uint64_t offset = 0, bytes = 0;
};

class Graph {
 public:
  explicit Graph(std::string name) : name_(std::move(name)) {}

  // Inputs and results take the operands of their role in order of call.
  Value parameter(const std::string& name, std::int32_t dtype, const Dims& dims);
  Value weights(const std::string& name, std::size_t operand, std::int32_t dtype, const Dims& dims);
  Value constant(const std::vector<float>& values, const Dims& dims);
  Value constant(float value) { return constant(std::vector<float>{value}, {}); }
  Value integers(const std::vector<std::int64_t>& values);  // s64, one axis
  Value node(std::string_view type, std::string_view opset, const Attributes& attributes,
             const std::vector<Value>& inputs, std::int32_t dtype, const Dims& dims);
  void result(const Value& value);

  // Shorthands. Two-operand ones broadcast as NumPy does.
  Value convert(const Value& value, std::int32_t dtype);  // itself where the type is right already
  Value binary(std::string_view type, const Value& a, const Value& b);
  Value unary(std::string_view type, const Value& a, std::string_view opset = "opset1");
  Value reshape(const Value& value, const Dims& dims);
  Value transpose(const Value& value, const std::vector<std::int64_t>& order);
  Value matmul(const Value& a, const Value& b, bool transpose_b);
  Value slice(const Value& value, std::int64_t begin, std::int64_t end, std::int64_t axis);
  Value softmax(const Value& value);  // over the last axis

  const std::string& name() const { return name_; }
  std::string xml() const;
  // Constants of the graph; those of WeightPlace are still zero.
  const std::vector<char>& blob() const { return blob_; }
  const std::vector<WeightPlace>& weight_places() const { return places_; }

 private:
  struct Layer {
    std::string text;  // up to the end of its output
  };
  struct Edge {
    Value from;
    std::size_t to = 0, port = 0;
  };
  Value constant_bytes(const std::string& name, std::int32_t dtype, const Dims& dims,
                       const void* data);
  Value add(std::string_view type, std::string_view opset, const std::string& name,
            const Attributes& attributes, const std::vector<Value>& inputs, std::int32_t dtype,
            const Dims& dims, bool has_output);

  std::string name_;
  std::vector<Layer> layers_;
  std::vector<Edge> edges_;
  std::vector<char> blob_;
  std::vector<WeightPlace> places_;
};

}  // namespace hm_openvino
