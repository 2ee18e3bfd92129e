#include "profile/kernels/kernel_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr double duration_us_max = 1e12;  // eleven days: sums stay far inside of 64 bits
constexpr std::size_t layers_max = 10'000;
constexpr std::size_t kernels_max = 200'000;
constexpr double summary_tolerance = 1e-3;

// An object of the table and its path in the document, for refusals.
class Entry {
 public:
  Entry(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) throw refused("must be an object", where_);
  }

  const std::string& where() const { return where_; }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  const Json& at(const char* key) const { return json_[key]; }
  std::string path(const char* key) const { return where_ + '.' + key; }

  double number(const char* key, double high) const {
    if (!has(key)) throw refused("'" + std::string(key) + "' is missing", where_);
    const Json& value = at(key);
    if (!value.is_number()) throw refused("must be a number", path(key));
    const auto out = value.get<double>();
    if (!std::isfinite(out) || out < 0 || out > high) {
      throw refused("is " + value.dump() + "; expected a number from 0 to " + Json(high).dump(),
                    path(key));
    }
    return out;
  }

  std::optional<std::int64_t> integer(const char* key, std::int64_t low) const {
    if (!has(key)) return std::nullopt;
    const Json& value = at(key);
    constexpr std::int64_t high = std::int64_t{1} << 40;
    const bool is_whole = value.is_number_integer() &&
                          (!value.is_number_unsigned() || value.get<std::uint64_t>() <= high);
    if (!is_whole || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high) {
      throw refused("must be a whole number of at least " + std::to_string(low), path(key));
    }
    return value.get<std::int64_t>();
  }

  std::string text(const char* key) const {
    if (!has(key)) return {};
    if (!at(key).is_string()) throw refused("must be a string", path(key));
    return at(key).get<std::string>();
  }

  std::int64_t duration_ps(const char* key) const {
    return whole_ps(key, number(key, duration_us_max));
  }

  // A time that rounds to nothing is none: it would be summed as if nobody had given it.
  std::int64_t whole_ps(const char* key, double us) const {
    const auto ps = std::llround(us * ps_per_us);
    if (us <= 0 || ps > 0) return ps;
    throw refused("is " + at(key).dump() + ", less than a picosecond; expected 0 or a time",
                  path(printable(key).c_str()));
  }

  // A key that is one letter away from a known one is a mistake; foreign keys are not ours to
  // judge.
  void refuse_slips(const std::vector<std::string>& known) const {
    for (const auto& [key, value] : json_.items()) {
      if (contains(known, key)) continue;
      const std::vector<std::string> close = nearest(key, known, 1);
      const bool is_slip = key.size() > 4 && !close.empty() && close.front().size() > 4;
      if (is_slip)
        throw refused("unknown key '" + printable(key) + "'", where_,
                      "did you mean '" + close.front() + "'?");
    }
  }

 private:
  const Json& json_;
  std::string where_;
};

LayerHalf read_half(const Entry& row) {
  const std::string text = row.text("half");
  if (text.empty()) return LayerHalf::unstated;
  if (text == "attn") return LayerHalf::attention;
  if (text == "ffn") return LayerHalf::feed_forward;
  throw refused("is '" + printable(text) + "'; expected attn or ffn", row.path("half"));
}

std::vector<std::string> read_operators(const Entry& row) {
  if (!row.has("operator")) return {};
  const Json& value = row.at("operator");
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> out;
  if (value.is_array()) {
    for (const Json& item : value) {
      if (item.is_string()) out.push_back(item.get<std::string>());
    }
  }
  if (out.empty() || out.size() != value.size()) {
    throw refused("must be an operator's name or a list of them", row.path("operator"));
  }
  return out;
}

std::optional<std::array<std::int64_t, 3>> read_shape(const Entry& row) {
  if (!row.has("shape")) return std::nullopt;
  const Json& value = row.at("shape");
  std::array<std::int64_t, 3> out{};
  bool is_good = value.is_array() && value.size() == out.size();
  for (std::size_t i = 0; is_good && i < out.size(); ++i) {
    is_good = value[i].is_number_integer() && value[i].get<std::int64_t>() > 0;
    if (is_good) out[i] = value[i].get<std::int64_t>();
  }
  if (!is_good) throw refused("must be [m, n, k], whole and positive", row.path("shape"));
  return out;
}

std::optional<Dtype> read_dtype(const Entry& row) {
  const std::string text = row.text("dtype");
  if (text.empty()) return std::nullopt;
  if (const auto dtype = parse_dtype(text)) return dtype;
  std::vector<std::string> names;
  for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
  throw refused("'" + printable(text) + "' is no data type", row.path("dtype"),
                suggestion(text, names));
}

ProfiledKernel read_row(const Entry& row) {
  row.refuse_slips({"name", "simplified_name", "category", "half", "dur_us", "operator", "shape",
                    "dtype", "flops", "bytes", "count"});
  ProfiledKernel out{.where = row.where()};
  out.name = row.text("name");
  if (out.name.empty()) out.name = row.text("simplified_name");
  out.category = row.text("category");
  if (out.category.empty()) throw refused("'category' is missing", row.where());
  out.half = read_half(row);
  out.duration_ps = row.duration_ps("dur_us");
  out.count = row.integer("count", 1).value_or(1);
  out.operators = read_operators(row);
  out.shape = read_shape(row);
  out.dtype = read_dtype(row);
  if (row.has("flops")) out.flops = row.number("flops", 1e30);
  if (row.has("bytes")) out.bytes = row.number("bytes", 1e30);
  return out;
}

void read_metadata(const Entry& metadata, KernelLayer& out) {
  metadata.refuse_slips({"layer_id", "compress_ratio", "total_dur_us", "layer_type", "cached"});
  out.layer_type = metadata.text("layer_type");
  out.layer_id = metadata.integer("layer_id", 0);
  out.compress_ratio = metadata.integer("compress_ratio", 0);
  out.cached = metadata.integer("cached", 0);
  if (metadata.has("total_dur_us")) out.total_ps = metadata.duration_ps("total_dur_us");
}

struct CategorySum {
  std::int64_t duration_ps = 0;
  std::int64_t count = 0;
};

bool is_off(std::int64_t stated_ps, std::int64_t sum_ps) {
  const auto difference = std::fabs(as_double(stated_ps) - as_double(sum_ps));
  return difference > summary_tolerance * as_double(std::max(stated_ps, sum_ps));
}

std::string us_text(std::int64_t ps) { return Json(as_double(ps) / ps_per_us).dump(); }

// The summary and its rows say the same, category by category, in both directions.
void check_summary(const Json& summary, const KernelLayer& layer) {
  const std::string where = layer.where + ".category_summary";
  if (!summary.is_object()) throw refused("must be an object", where);
  std::map<std::string, CategorySum> sums;
  for (const ProfiledKernel& row : layer.kernels) {
    sums[row.category].duration_ps += row.duration_ps;
    sums[row.category].count += row.count;
  }
  for (const auto& [category, value] : summary.items()) {
    const Entry entry(value, where + '.' + printable(category));
    const std::int64_t stated = entry.duration_ps(entry.has("dur_us") ? "dur_us" : "dur");
    const CategorySum sum = sums[category];
    if (is_off(stated, sum.duration_ps)) {
      throw refused("summary_mismatch: says " + us_text(stated) + " us, its rows add to " +
                        us_text(sum.duration_ps) + " us",
                    entry.where(), "correct the summary or leave it out");
    }
    const auto count = entry.integer("count", 0);
    if (count && *count != sum.count) {
      throw refused("summary_mismatch: counts " + std::to_string(*count) + " kernels, the rows " +
                        std::to_string(sum.count),
                    entry.where(), "correct the summary or leave it out");
    }
  }
  for (const auto& [category, sum] : sums) {
    if (summary.contains(category) || sum.duration_ps == 0) continue;
    throw refused("summary_mismatch: category '" + printable(category) + "' of the rows is missing",
                  where, "correct the summary or leave it out");
  }
}

void check_total(const KernelLayer& layer) {
  const std::int64_t sum = layer.kernels_ps();
  if (sum == 0) throw refused("no kernel takes any time", layer.where);
  if (layer.total_ps && *layer.total_ps < sum && is_off(*layer.total_ps, sum)) {
    throw refused("summary_mismatch: total_dur_us is " + us_text(*layer.total_ps) +
                      ", its kernels add to " + us_text(sum) + " us",
                  layer.where, "kernels that overlap cannot be added: give those of one stream");
  }
}

// Sums stay exact: their size is checked as they grow.
void add_kernel(ProfiledKernel row, KernelLayer& layer, std::int64_t& sum_ps) {
  sum_ps += row.duration_ps;
  layer.kernels.push_back(std::move(row));
  if (layer.kernels.size() > kernels_max) {
    throw refused("more than " + std::to_string(kernels_max) + " kernels", layer.where);
  }
  if (as_double(sum_ps) > duration_us_max * ps_per_us) {
    throw refused("the kernels take more than eleven days", layer.where);
  }
}

KernelLayer read_layer(const Json& json, const std::string& where) {
  const Entry entry(json, where);
  KernelLayer out{.where = where};
  if (entry.has("metadata")) read_metadata(Entry(entry.at("metadata"), where + ".metadata"), out);
  if (!entry.has("kernels") || !entry.at("kernels").is_array() || entry.at("kernels").empty()) {
    throw refused("'kernels' must be a list of rows", where);
  }
  const Json& rows = entry.at("kernels");
  std::int64_t sum_ps = 0;
  for (const auto i : indices(rows)) {
    const Entry row(rows[i], where + ".kernels[" + std::to_string(i) + ']');
    add_kernel(read_row(row), out, sum_ps);
  }
  if (entry.has("category_summary")) check_summary(entry.at("category_summary"), out);
  check_total(out);
  return out;
}

}  // namespace

std::int64_t KernelLayer::kernels_ps() const {
  std::int64_t out = 0;
  for (const ProfiledKernel& kernel : kernels) out += kernel.duration_ps;
  return out;
}

KernelProfile read_kernel_flow(const Json& json, std::string_view where) {
  KernelProfile out;
  if (!json.is_object() || !json.contains("layers")) {
    out.layers.push_back(read_layer(json, std::string(where)));
    return out;
  }
  const Json& layers = json["layers"];
  if (!layers.is_array() || layers.empty() || layers.size() > layers_max) {
    throw refused("'layers' must be a list of 1 to " + std::to_string(layers_max) + " layers",
                  std::string(where));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    out.layers.push_back(
        read_layer(layers[i], std::string(where) + ": layers[" + std::to_string(i) + ']'));
  }
  return out;
}

KernelProfile read_kernel_ms(const Json& json, std::string_view where) {
  KernelLayer layer{.where = std::string(where)};
  const Entry entry(json, layer.where);
  std::int64_t sum_ps = 0;
  for (const auto& [category, value] : json.items()) {
    const double us = entry.number(category.c_str(), duration_us_max / 1e6) * 1e3;
    add_kernel({.where = layer.where + '.' + printable(category),
                .name = category,
                .category = category,
                .duration_ps = entry.whole_ps(category.c_str(), us),
                .is_category_total = true},
               layer, sum_ps);
  }
  check_total(layer);
  return {.layers = {std::move(layer)}};
}

}  // namespace halmark
