// Values that are no list of fields: named integers, labels, precisions, places, intervals.

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"

namespace halmark {

using json_fields::expected;
using json_fields::read;

namespace {

bool is_dtype_name(std::string_view name) { return name == "dtype" || name.ends_with("_dtype"); }

Dtype dtype_at(const Json& in, std::string_view key) {
  Dtype out{};
  json_fields::Reader reader(in);
  reader(std::string(key).c_str(), out);
  return out;
}

}  // namespace

void to_json(Json& out, const Params& value) {
  out = Json::object();
  for (const Param& item : value.items()) {
    const auto dtype = is_dtype_name(item.name) ? dtype_from_value(item.value) : std::nullopt;
    if (dtype) {
      out[item.name] = std::string(dtype_name(*dtype));
    } else {
      out[item.name] = item.value;
    }
  }
}

void from_json(const Json& in, Params& value) {
  if (!in.is_object()) expected("an object of parameters");
  value = Params();
  for (const auto& [name, item] : in.items()) {
    std::int64_t number = 0;
    if (item.is_string()) {
      number = as_int64(dtype_at(in, name));
    } else {
      read(item, number);
    }
    value.set(name, number);
  }
}

void to_json(Json& out, const Config& value) {
  Json labels = Json::object();
  for (const auto& [name, label] : value.labels) labels[name] = label;
  out = Json{{"params", value.params}, {"labels", labels}};
}

void from_json(const Json& in, Config& value) {
  json_fields::Reader reader(in);
  reader("params", value.params);
  value.labels.clear();
  const Json& labels = in.at("labels");
  if (!labels.is_object()) expected("an object of labels");
  for (const auto& [name, label] : labels.items()) {
    read(label, value.labels.emplace_back(name, "").second);
  }
}

void to_json(Json& out, const Interval& value) { out = Json::array({value.low, value.high}); }

void from_json(const Json& in, Interval& value) {
  if (!in.is_array() || in.size() != 2) expected("a low and a high end");
  read(in[0], value.low);
  read(in[1], value.high);
}

void to_json(Json& out, const ShardPlace& value) { out = value.text(); }

void from_json(const Json& in, ShardPlace& value) {
  std::string text;
  read(in, text);
  const auto place = parse_shard_place(text);
  if (!place) expected("a place of a shard");
  value = *place;
}

void to_json(Json& out, const Precision& value) {
  out = Json{{"name", value.name}};
  for (const KernelKindRow& row : kernel_kinds) {
    out[std::string(row.name)] = std::string(dtype_name(value.*row.field));
  }
  if (value.packed == PackedWeights::as_stated) return;
  out["packed"] = packed_weights_name(value.packed);
}

namespace {

// Rows of earlier versions have one type for all linears but the head, and the format of packed
// weights in the name alone.
void read_one_linear_type(const Json& in, Precision& value) {
  value.set_linears(dtype_at(in, "linear"));
  if (value.qkv != Dtype::f4_e2m1) return;
  if (value.name == "mxfp4") value.packed = PackedWeights::mxfp4;
  if (value.name == "nvfp4") value.packed = PackedWeights::nvfp4;
}

}  // namespace

void from_json(const Json& in, Precision& value) {
  json_fields::Reader reader(in);
  value = {};
  reader("name", value.name);
  const bool is_old = in.contains("linear");
  if (is_old) read_one_linear_type(in, value);
  for (const KernelKindRow& row : kernel_kinds) {
    if (is_old && row.is_linear && row.kind != KernelKind::head) continue;
    value.*row.field = dtype_at(in, row.name);
  }
  if (in.contains("packed")) reader("packed", value.packed);
}

}  // namespace halmark
