#include "latency/imported/kernel_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "kernels/routing.hpp"

namespace halmark {
namespace {

// One row with its layout: fields by parameter name.
class Row {
 public:
  Row(const CsvTable& table, const TableLayout& layout, const std::vector<std::size_t>& columns,
      std::size_t index)
      : table_(table), layout_(layout), columns_(columns), index_(index) {}

  std::string_view text(std::size_t parameter) const {
    const TableParameter& p = layout_.parameters[parameter];
    return p.column.empty() ? std::string_view(p.value) : table_.row(index_)[columns_[parameter]];
  }
  std::string_view text(std::string_view name) const { return text(position(name)); }
  std::int64_t integer(std::size_t parameter) const {
    const std::string_view field = text(parameter);
    double value = 0;
    const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (code != std::errc() || end != field.data() + field.size() || !std::isfinite(value) ||
        value != std::floor(value) || std::abs(value) > 1e15) {
      fail(std::string("'") + printable(field) + "' is no integer for " +
           layout_.parameters[parameter].name);
    }
    return static_cast<std::int64_t>(value) + layout_.parameters[parameter].offset;
  }
  std::int64_t integer(std::string_view name) const { return integer(position(name)); }

  double ns(std::size_t column) const {
    const std::string_view field = table_.row(index_)[column];
    double value = 0;
    const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
    const double ns = value * layout_.ns_per_unit;
    if (code != std::errc() || end != field.data() + field.size() || !std::isfinite(ns) ||
        ns <= 0) {
      fail(std::string("'") + printable(field) + "' is no time in column " + layout_.time_column);
    }
    return ns;
  }
  [[noreturn]] void fail(const std::string& what) const { throw refused(what, where()); }
  std::string where() const { return table_.where(index_); }

 private:
  std::size_t position(std::string_view name) const {
    const auto found = std::ranges::find(layout_.parameters, name, &TableParameter::name);
    return static_cast<std::size_t>(found - layout_.parameters.begin());
  }
  const CsvTable& table_;
  const TableLayout& layout_;
  const std::vector<std::size_t>& columns_;
  std::size_t index_;
};

// Spellings of kernel collectors beside those of parse_dtype.
std::optional<Dtype> dtype_of(std::string_view text) {
  if (text == "fp8_block") return Dtype::f8_e4m3fn;
  if (text == "half") return Dtype::f16;
  return parse_dtype(text);
}

// Rows become points of one or two series.
class Reader {
 public:
  Reader(const CsvTable& table, const TableLayout& layout) : table_(table), layout_(layout) {
    for (const TableParameter& p : layout.parameters) {
      columns_.push_back(p.column.empty() ? 0 : table.column(p.column));
    }
    for (const std::string& name : layout.series) series_columns_.push_back(table.column(name));
    time_ = table.column(layout.time_column);
    out_.name = table.name();
    out_.rows = table.rows();
  }

  ImportedTable read() {
    for (std::size_t i = 0; i < table_.rows(); ++i) {
      const Row row(table_, layout_, columns_, i);
      if (layout_.form == TableForm::plain) add_plain(row, i);
      if (layout_.form == TableForm::experts) add_experts(row, i);
      if (layout_.form == TableForm::collective) add_collective(row, i);
    }
    for (auto& [name, points] : points_) out_.series.push_back({name, std::move(points)});
    if (out_.series.empty()) {
      throw refused("no row can be used", table_.name(),
                    out_.skipped.empty() ? "" : "skipped: " + out_.skipped.begin()->first);
    }
    return std::move(out_);
  }

 private:
  std::string series(std::size_t row) const {
    std::string out;
    for (const std::size_t column : series_columns_) {
      if (!out.empty()) out += ' ';
      out += table_.row(row)[column];
    }
    return out;
  }
  bool skip(std::string reason) {
    ++out_.skipped[std::move(reason)];
    return false;
  }
  // A data type that the contract does not list yet is no fault of the table.
  bool set_dtype(Params& params, std::string_view name, std::string_view text) {
    const auto dtype = dtype_of(text);
    if (!dtype) return skip("no data type '" + printable(text) + "'");
    params.set(name, static_cast<std::int64_t>(*dtype));
    return true;
  }
  void add(const Row& row, const std::string& name, Problem problem, double ns) {
    check(row, problem);
    points_[name].push_back({std::move(problem), ns});
  }
  // What complete_problem checks, except for lists of data types.
  void check(const Row& row, Problem& problem) const {
    const OpContract& contract = *find_contract(problem.op);
    for (const ParamSpec& spec : contract.params()) {
      if (spec.derived) continue;
      const auto value = problem.params.find(spec.name);
      if (!value && !spec.fallback) row.fail("no value for " + std::string(spec.name));
      if (!value) problem.params.set(spec.name, *spec.fallback);
      const bool is_listed = spec.kind == ParamKind::dtype || !spec.allowed.empty();
      if (value && !is_listed && (*value < spec.low || *value > spec.high)) {
        row.fail(std::string(spec.name) + " " + std::to_string(*value) + " is not in " +
                 std::to_string(spec.low) + ".." + std::to_string(spec.high));
      }
    }
    if (const auto fault = contract.check_relations(problem.params)) row.fail(*fault);
    for (const ParamSpec& spec : contract.params()) {
      if (spec.derived) problem.params.set(spec.name, contract.derived(spec.name, problem.params));
    }
  }

  void add_plain(const Row& row, std::size_t index) {
    Problem problem{layout_.op, {}};
    const OpContract& contract = *find_contract(layout_.op);
    for (std::size_t p = 0; p < layout_.parameters.size(); ++p) {
      const std::string& name = layout_.parameters[p].name;
      const auto spec = std::ranges::find(contract.params(), name, &ParamSpec::name);
      if (spec->kind == ParamKind::dtype) {
        if (!set_dtype(problem.params, name, row.text(p))) return;
      } else {
        problem.params.set(name, row.integer(p));
      }
    }
    add(row, series(index), std::move(problem), row.ns(time_));
  }

  // The heaviest rank: the one that the table's per-rank times are of.
  std::int64_t heaviest(const Row& row, std::int64_t skew) {
    const auto key = std::tuple(row.integer("tokens"), row.integer("top_k"), row.integer("experts"),
                                row.integer("ep_size"), skew);
    const auto [it, is_new] = heaviest_.try_emplace(key, 0);
    if (is_new) {
      const auto& [tokens, top_k, experts, ep_size, percent] = key;
      if (tokens < 1 || top_k < 1 || top_k > experts || ep_size < 1 || experts % ep_size != 0) {
        row.fail("tokens, top_k, experts and ep_size do not fit together");
      }
      it->second = heaviest_rank(routing_counts(tokens, top_k, experts, percent), ep_size);
    }
    return it->second;
  }

  // A fused row is shared out by FLOPs: gate and up (one matrix without a gate) and down do the
  // same work per matrix.
  void add_experts(const Row& row, std::size_t index) {
    const std::string_view distribution = row.text("distribution");
    std::int64_t skew = 0;
    if (distribution.starts_with("power_law_")) {
      const std::string_view exponent = distribution.substr(10);
      double value = 0;
      const auto [end, code] =
          std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
      if (code != std::errc() || end != exponent.data() + exponent.size() || !(value >= 0) ||
          value > 10) {
        row.fail("'" + printable(distribution) + "' is no distribution");
      }
      skew = std::llround(100 * value);
    } else if (distribution != "balanced") {
      skip("distribution '" + printable(distribution) + "'");
      return;
    }
    Params params{{"tokens", row.integer("tokens")},
                  {"top_k", row.integer("top_k")},
                  {"experts", row.integer("experts")},
                  {"skew", skew},
                  {"ep_size", row.integer("ep_size")},
                  {"ep_rank", heaviest(row, skew)},
                  {"wei_trans", 1}};
    const std::string_view dtype = row.text("src_dtype");
    if (!set_dtype(params, "src_dtype", dtype) || !set_dtype(params, "wei_dtype", dtype)) return;
    params.set("dst_dtype", static_cast<std::int64_t>(Dtype::bf16));
    const std::int64_t hidden = row.integer("hidden"), width = row.integer("width");
    const std::int64_t expert_tp = row.integer("expert_tp");
    if (expert_tp < 1 || width % expert_tp != 0) row.fail("expert_tp does not divide the width");
    const std::string name = series(index);
    const std::int64_t up_matrices = name.find("nongated") == std::string::npos ? 2 : 1;
    const double ns = row.ns(time_) / static_cast<double>(up_matrices + 1);
    params.set("n", up_matrices * width / expert_tp);
    params.set("k", hidden);
    add(row, name + " up", {"grouped_gemm", params}, ns * static_cast<double>(up_matrices));
    params.set("n", hidden);
    params.set("k", width / expert_tp);
    add(row, name + " down", {"grouped_gemm", std::move(params)}, ns);
  }

  void add_collective(const Row& row, std::size_t index) {
    std::string op(row.text("op"));
    if (op == "alltoall") op = "all_to_all";
    if (find_contract(op) == nullptr) {
      skip("no op '" + printable(op) + "'");
      return;
    }
    const auto dtype = dtype_of(row.text("dtype"));
    if (!dtype) {
      skip("no data type '" + printable(row.text("dtype")) + "'");
      return;
    }
    const std::int64_t ranks = row.integer("ranks");
    std::int64_t bytes = dtype_bytes(*dtype, row.integer("elements"));
    // nccl-tests counts what a rank ends up with, the contract what it brings.
    if (op == "all_gather") {
      if (ranks < 1 || bytes % ranks != 0) {
        skip("all_gather of a size that its ranks do not divide");
        return;
      }
      bytes /= ranks;
    }
    add(row, series(index),
        {op, {{"bytes", bytes}, {"ranks", ranks}, {"dtype", static_cast<std::int64_t>(*dtype)}}},
        row.ns(time_));
  }

  const CsvTable& table_;
  const TableLayout& layout_;
  std::vector<std::size_t> columns_, series_columns_;
  std::size_t time_ = 0;
  ImportedTable out_;
  std::map<std::string, std::vector<LatencyPoint>> points_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
           std::int64_t>
      heaviest_;
};

}  // namespace

ImportedTable kernel_table(const CsvTable& table, const TableLayout& layout) {
  return Reader(table, layout).read();
}

ImportedTable read_kernel_table(const std::string& path, const std::string& layout_path) {
  const CsvTable table = CsvTable::read(path);
  if (!layout_path.empty()) return kernel_table(table, read_layout(layout_path));
  const auto layout = known_layout(table);
  if (!layout) {
    throw refused("its columns fit no known layout", path + ":1",
                  "describe them in a layout file, see framework/latency/imported/README.md");
  }
  return kernel_table(table, *layout);
}

}  // namespace halmark
