#include "ir.hpp"

#include <algorithm>
#include <cstring>

namespace hm_openvino {
namespace {

namespace plug = halmark::plugin;
constexpr std::size_t blob_alignment = 64;  // of a vector register and a cache line

struct TypeNames {
  std::int32_t dtype;
  const char *element, *precision;  // of <data element_type> and of <port precision>
};

const TypeNames& names_of(std::int32_t dtype) {
  static constexpr TypeNames table[] = {
      {HM_DTYPE_F32, "f32", "FP32"}, {HM_DTYPE_F16, "f16", "FP16"}, {HM_DTYPE_BF16, "bf16", "BF16"},
      {HM_DTYPE_S32, "i32", "I32"},  {HM_DTYPE_S64, "i64", "I64"},  {HM_DTYPE_S8, "i8", "I8"},
      {HM_DTYPE_U8, "u8", "U8"},
  };
  for (const TypeNames& names : table) {
    if (names.dtype == dtype) return names;
  }
  plug::unsupported("an IR with elements of " + std::string(plug::dtype_name(dtype)));
}

std::string joined(const Dims& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

std::string port_text(std::size_t id, std::int32_t dtype, const Dims& dims,
                      const std::string& names = "") {
  std::string text = "<port id=\"" + std::to_string(id) + "\" precision=\"" +
                     names_of(dtype).precision + "\"" +
                     (names.empty() ? "" : " names=\"" + names + "\"") + ">";
  for (const std::int64_t dim : dims) text += "<dim>" + std::to_string(dim) + "</dim>";
  return text + "</port>";
}

Dims broadcast(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims out(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto at = [&](const Dims& d) { return i < d.size() ? d[d.size() - 1 - i] : 1; };
    out[rank - 1 - i] = std::max(at(a), at(b));
  }
  return out;
}

}  // namespace

std::int64_t elements_of(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

Value Graph::add(std::string_view type, std::string_view opset, const std::string& name,
                 const Attributes& attributes, const std::vector<Value>& inputs, std::int32_t dtype,
                 const Dims& dims, bool has_output) {
  const std::size_t id = layers_.size();
  std::string text = "<layer id=\"" + std::to_string(id) + "\" name=\"" +
                     (name.empty() ? std::string(type) + "_" + std::to_string(id) : name) +
                     "\" type=\"" + std::string(type) + "\" version=\"" + std::string(opset) +
                     "\">";
  if (!attributes.empty()) {
    text += "<data";
    for (const auto& [key, value] : attributes) text += " " + key + "=\"" + value + "\"";
    text += "/>";
  }
  if (!inputs.empty()) {
    text += "<input>";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      text += port_text(i, inputs[i].dtype, inputs[i].dims);
      edges_.push_back({inputs[i], id, i});
    }
    text += "</input>";
  }
  const std::size_t port = inputs.size();
  if (has_output) text += "<output>" + port_text(port, dtype, dims, name) + "</output>";
  layers_.push_back({text + "</layer>\n"});
  return {id, static_cast<std::int32_t>(port), dtype, dims};
}

Value Graph::parameter(const std::string& name, std::int32_t dtype, const Dims& dims) {
  return add("Parameter", "opset1", name,
             {{"shape", joined(dims)}, {"element_type", names_of(dtype).element}}, {}, dtype, dims,
             true);
}

Value Graph::constant_bytes(const std::string& name, std::int32_t dtype, const Dims& dims,
                            const void* data) {
  const std::size_t offset = (blob_.size() + blob_alignment - 1) / blob_alignment * blob_alignment;
  const auto bytes = static_cast<std::size_t>(elements_of(dims) * plug::element_bytes(dtype));
  blob_.resize(offset + bytes);
  if (data != nullptr) std::memcpy(blob_.data() + offset, data, bytes);
  return add("Const", "opset1", name,
             {{"element_type", names_of(dtype).element},
              {"shape", joined(dims)},
              {"offset", std::to_string(offset)},
              {"size", std::to_string(bytes)}},
             {}, dtype, dims, true);
}

Value Graph::weights(const std::string& name, std::size_t operand, std::int32_t dtype,
                     const Dims& dims) {
  const Value value = constant_bytes(name, dtype, dims, nullptr);
  const auto bytes = static_cast<std::uint64_t>(elements_of(dims) * plug::element_bytes(dtype));
  places_.push_back({operand, blob_.size() - bytes, bytes});
  return value;
}

Value Graph::constant(const std::vector<float>& values, const Dims& dims) {
  return constant_bytes("", HM_DTYPE_F32, dims, values.data());
}

Value Graph::integers(const std::vector<std::int64_t>& values) {
  return constant_bytes("", HM_DTYPE_S64, {static_cast<std::int64_t>(values.size())},
                        values.data());
}

Value Graph::node(std::string_view type, std::string_view opset, const Attributes& attributes,
                  const std::vector<Value>& inputs, std::int32_t dtype, const Dims& dims) {
  return add(type, opset, "", attributes, inputs, dtype, dims, true);
}

void Graph::result(const Value& value) { add("Result", "opset1", "", {}, {value}, 0, {}, false); }

Value Graph::convert(const Value& value, std::int32_t dtype) {
  if (value.dtype == dtype) return value;
  return node("Convert", "opset1", {{"destination_type", names_of(dtype).element}}, {value}, dtype,
              value.dims);
}

Value Graph::binary(std::string_view type, const Value& a, const Value& b) {
  return node(type, "opset1", {{"auto_broadcast", "numpy"}}, {a, b}, a.dtype,
              broadcast(a.dims, b.dims));
}

Value Graph::unary(std::string_view type, const Value& a, std::string_view opset) {
  return node(type, opset, {}, {a}, a.dtype, a.dims);
}

Value Graph::reshape(const Value& value, const Dims& dims) {
  if (value.dims == dims) return value;
  return node("Reshape", "opset1", {{"special_zero", "false"}}, {value, integers(dims)},
              value.dtype, dims);
}

Value Graph::transpose(const Value& value, const std::vector<std::int64_t>& order) {
  Dims dims;
  for (const std::int64_t axis : order) dims.push_back(value.dims[static_cast<std::size_t>(axis)]);
  return node("Transpose", "opset1", {}, {value, integers(order)}, value.dtype, dims);
}

Value Graph::matmul(const Value& a, const Value& b, bool transpose_b) {
  Dims dims = a.dims;
  dims.back() = transpose_b ? b.dims[b.dims.size() - 2] : b.dims.back();
  return node("MatMul", "opset1",
              {{"transpose_a", "false"}, {"transpose_b", transpose_b ? "true" : "false"}}, {a, b},
              a.dtype, dims);
}

Value Graph::slice(const Value& value, std::int64_t begin, std::int64_t end, std::int64_t axis) {
  Dims dims = value.dims;
  dims[static_cast<std::size_t>(axis)] = end - begin;
  if (dims == value.dims) return value;
  return node("Slice", "opset8", {},
              {value, integers({begin}), integers({end}), integers({1}), integers({axis})},
              value.dtype, dims);
}

Value Graph::softmax(const Value& value) {
  return node("SoftMax", "opset8", {{"axis", "-1"}}, {value}, value.dtype, value.dims);
}

std::string Graph::xml() const {
  std::string text = "<?xml version=\"1.0\"?>\n<net name=\"" + name_ + "\" version=\"11\">\n";
  text += "<layers>\n";
  for (const Layer& layer : layers_) text += layer.text;
  text += "</layers>\n<edges>\n";
  for (const Edge& edge : edges_) {
    text += "<edge from-layer=\"" + std::to_string(edge.from.layer) + "\" from-port=\"" +
            std::to_string(edge.from.port) + "\" to-layer=\"" + std::to_string(edge.to) +
            "\" to-port=\"" + std::to_string(edge.port) + "\"/>\n";
  }
  return text + "</edges>\n</net>\n";
}

}  // namespace hm_openvino
