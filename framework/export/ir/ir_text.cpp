#include "export/ir/ir_text.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"

namespace halmark::exports {
namespace {

std::string precision_of(const std::string& type) {
  if (type == "i64") return "I64";
  return type == "bf16" ? "BF16" : "FP32";
}

std::string port(std::int64_t id, const Tensor& t, const std::string& names) {
  std::string out = "        <port id=\"" + std::to_string(id) + "\" precision=\"" +
                    precision_of(t.type) + '"' + (names.empty() ? "" : " names=\"" + names + '"') +
                    ">";
  for (const std::int64_t n : t.shape) out += "<dim>" + std::to_string(n) + "</dim>";
  return out + "</port>\n";
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape out = a.size() >= b.size() ? a : b;
  const Shape& less = a.size() >= b.size() ? b : a;
  const std::size_t shift = out.size() - less.size();
  for (const auto i : indices(less)) out[shift + i] = std::max(out[shift + i], less[i]);
  return out;
}

ConstantPlace integers_of(const std::vector<std::int64_t>& values) {
  ConstantPlace place;
  place.integers = values;
  return place;
}

}  // namespace

Tensor IrText::layer(const std::string& name, const std::string& type, const std::string& opset,
                     const std::string& attributes, std::span<const Tensor> inputs,
                     const Shape& shape, const std::string& out_type) {
  const std::int64_t id = count_++;
  const std::string number = std::to_string(id);
  layers_ += "    <layer id=\"" + number + "\" name=\"" + (name.empty() ? type + number : name) +
             "\" type=\"" + type + "\" version=\"" + opset + "\">\n";
  if (!attributes.empty()) layers_ += "      <data " + attributes + "/>\n";
  std::int64_t at = 0;
  if (!inputs.empty()) layers_ += "      <input>\n";
  for (const Tensor& in : inputs) {
    edges_ += "    <edge from-layer=\"" + std::to_string(in.layer) + "\" from-port=\"" +
              std::to_string(in.port) + "\" to-layer=\"" + number + "\" to-port=\"" +
              std::to_string(at) + "\"/>\n";
    layers_ += port(at++, in, "");
  }
  if (!inputs.empty()) layers_ += "      </input>\n";
  const Tensor out{id, at, shape, out_type};
  if (type != "Result") layers_ += "      <output>\n" + port(at, out, name) + "      </output>\n";
  layers_ += "    </layer>\n";
  return out;
}

Tensor IrText::input(const std::string& name, const Shape& shape) {
  return layer(name, "Parameter", "opset1",
               "shape=\"" + join(shape, ",") + "\" element_type=\"f32\"", {}, shape, "f32");
}

void IrText::output(const Tensor& value) {
  layer("", "Result", "opset1", "", std::span(&value, 1), {}, "f32");
}

Tensor IrText::constant(const std::string& name, const Shape& shape, const char* type,
                        ConstantPlace place) {
  constexpr std::int64_t alignment = 64;
  place.count = 1;
  for (const std::int64_t n : shape) place.count *= n;
  place.offset = (weight_bytes_ + alignment - 1) / alignment * alignment;
  const std::int64_t width = place.integers.empty() ? dtype_bytes(place.dtype, 1) : 8;
  weight_bytes_ = place.offset + place.count * width;
  const std::string attributes = std::string("element_type=\"") + type + "\" shape=\"" +
                                 join(shape, ",") + "\" offset=\"" + std::to_string(place.offset) +
                                 "\" size=\"" + std::to_string(place.count * width) + '"';
  constants_.push_back(std::move(place));
  return layer(name, "Const", "opset1", attributes, {}, shape, type);
}

Tensor IrText::weights(const std::string& name, const Shape& shape, Dtype dtype, double centre,
                       double spread) {
  const bool is_narrow = dtype == Dtype::bf16;
  const Tensor stored =
      constant(name, shape, is_narrow ? "bf16" : "f32",
               {.dtype = dtype, .centre = centre, .spread = spread, .integers = {}});
  if (!is_narrow) return stored;
  return apply("Convert", "opset1", "destination_type=\"f32\"", {stored}, shape);
}

Tensor IrText::integers(const std::vector<std::int64_t>& values) {
  return constant("", {std::ssize(values)}, "i64", integers_of(values));
}

Tensor IrText::apply(const std::string& type, const std::string& opset,
                     const std::string& attributes, std::initializer_list<Tensor> inputs,
                     const Shape& shape) {
  return layer("", type, opset, attributes, std::span(inputs.begin(), inputs.size()), shape, "f32");
}

Tensor IrText::sum(const Tensor& a, const Tensor& b, const char* type) {
  return apply(type, "opset1", "auto_broadcast=\"numpy\"", {a, b}, broadcast(a.shape, b.shape));
}

Tensor IrText::matmul(const Tensor& a, const Tensor& b, bool transpose_b) {
  Shape shape = a.shape;
  shape.back() = transpose_b ? b.shape[b.shape.size() - 2] : b.shape.back();
  return apply(
      "MatMul", "opset1",
      std::string("transpose_a=\"false\" transpose_b=\"") + (transpose_b ? "true\"" : "false\""),
      {a, b}, shape);
}

Tensor IrText::reshaped(const Tensor& a, const Shape& shape) {
  return apply("Reshape", "opset1", "special_zero=\"false\"", {a, integers(shape)}, shape);
}

Tensor IrText::permuted(const Tensor& a, const std::vector<std::int64_t>& order) {
  Shape shape;
  for (const std::int64_t axis : order) shape.push_back(a.shape[as_size(axis)]);
  return apply("Transpose", "opset1", "", {a, integers(order)}, shape);
}

Tensor IrText::part(const Tensor& a, std::int64_t begin, std::int64_t end, std::int64_t axis) {
  Shape shape = a.shape;
  shape[as_size(axis)] = end - begin;
  return apply("Slice", "opset8", "",
               {a, integers({begin}), integers({end}), integers({1}), integers({axis})}, shape);
}

Tensor IrText::joined(const Tensor& a, const Tensor& b, std::size_t axis) {
  Shape shape = a.shape;
  shape[axis] += b.shape[axis];
  return apply("Concat", "opset1", "axis=\"" + std::to_string(axis) + '"', {a, b}, shape);
}

std::string IrText::xml(const std::string& name) const {
  return "<?xml version=\"1.0\"?>\n<net name=\"" + name + "\" version=\"11\">\n  <layers>\n" +
         layers_ + "  </layers>\n  <edges>\n" + edges_ + "  </edges>\n</net>\n";
}

}  // namespace halmark::exports
