// Text of an IR, layer by layer, and the places of its constants in the file of weights.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.hpp"

namespace halmark::exports {

using Shape = std::vector<std::int64_t>;

// An output of a layer, in f32 unless `type` says otherwise.
struct Tensor {
  std::int64_t layer = 0, port = 0;
  Shape shape;
  std::string type = "f32";
};

// What a constant holds: drawn from +-spread around `centre`, or the integers.
struct ConstantPlace {
  Dtype dtype = Dtype::f32;
  std::int64_t offset = 0, count = 0;
  double centre = 0, spread = 0;
  std::vector<std::int64_t> integers;  // not empty: s64
};

class IrText {
 public:
  Tensor input(const std::string& name, const Shape& shape);
  void output(const Tensor& value);
  // In f32, converted from `dtype` where it is stored narrower.
  Tensor weights(const std::string& name, const Shape& shape, Dtype dtype, double centre,
                 double spread);
  Tensor number(double value) { return weights("", {1}, Dtype::f32, value, 0); }
  Tensor integers(const std::vector<std::int64_t>& values);
  Tensor apply(const std::string& type, const std::string& opset, const std::string& attributes,
               std::initializer_list<Tensor> inputs, const Shape& shape);
  Tensor sum(const Tensor& a, const Tensor& b, const char* type = "Add");
  Tensor product(const Tensor& a, const Tensor& b) { return sum(a, b, "Multiply"); }
  Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_b);
  Tensor reshaped(const Tensor& a, const Shape& shape);
  Tensor permuted(const Tensor& a, const std::vector<std::int64_t>& order);
  Tensor part(const Tensor& a, std::int64_t begin, std::int64_t end, std::int64_t axis);
  Tensor joined(const Tensor& a, const Tensor& b, std::size_t axis);

  std::string xml(const std::string& name) const;
  const std::vector<ConstantPlace>& constants() const { return constants_; }
  std::int64_t weight_bytes() const { return weight_bytes_; }

 private:
  Tensor layer(const std::string& name, const std::string& type, const std::string& opset,
               const std::string& attributes, std::span<const Tensor> inputs, const Shape& shape,
               const std::string& out_type);
  Tensor constant(const std::string& name, const Shape& shape, const char* type,
                  ConstantPlace place);

  std::int64_t count_ = 0, weight_bytes_ = 0;
  std::string layers_, edges_;
  std::vector<ConstantPlace> constants_;
};

}  // namespace halmark::exports
