#include "latency/imported/kernel_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "core/input/file_kind.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "kernels/contract.hpp"
#include "kernels/routing.hpp"
#include "latency/imported/collective_type.hpp"
#include "latency/imported/table_row.hpp"

namespace halmark {
namespace {

// In words of a series: fp8 with a scale per block is another kernel than fp8 with one per row.
std::string block_of(std::string_view dtype) {
  if (dtype == "fp8_block") return "block128";
  const PackedType* packed = packed_type(dtype);
  return packed == nullptr ? "" : std::string(packed->word);
}

// Values of "power_law_1.2" and "balanced" as the skew of a problem; nothing for another law.
std::optional<std::int64_t> skew_of(const TableRow& row) {
  const std::string_view distribution = row.text("distribution");
  if (distribution == "balanced") return 0;
  if (!distribution.starts_with("power_law_")) return std::nullopt;
  const std::string_view exponent = distribution.substr(10);
  const auto value = read_number<double>(exponent);
  if (!value || !(*value >= 0) || *value > 10) {
    row.fail(std::string("'") + printable(distribution) + "' is no distribution");
  }
  return std::llround(100 * *value);
}

// Rows become points of one or two series.
class Reader {
 public:
  Reader(const CsvTable& table, const TableLayouts& layouts) : table_(table) {
    for (const std::string_view name : table.header()) {
      if (std::ranges::count(table.header(), name) > 1) {
        throw refused("column '" + printable(name) + "' is there twice", table.name() + ":1",
                      "which of them counts cannot be known: leave one out");
      }
    }
    for (const TableLayout& layout : layouts) layouts_.emplace_back(table, layout);
    out_.name = table.name();
    out_.rows = table.rows();
    if (table.has("power")) power_ = table.column("power");
    if (table.has("device")) out_.device = std::string(table.row(0)[table.column("device")]);
  }

  ImportedTable read() {
    for (const auto i : indices(table_.rows())) {
      const auto* taken =
          find_or_null(layouts_, true, [i](const BoundLayout& l) { return l.takes(i); });
      if (!taken) {
        skip("of a kernel that no layout is for");
      } else {
        add_row({*taken, i});
        note_power({*taken, i}, i);
      }
    }
    std::ranges::stable_sort(out_.series, {},
                             [](const KernelSeries& s) { return !s.identity.block.empty(); });
    return std::move(out_);
  }

 private:
  void add_row(const TableRow& row) {
    if (!row.layout().why_skipped.empty()) {
      skip(row.layout().why_skipped);
      return;
    }
    switch (row.layout().form) {
      case TableForm::plain:
        return add_plain(row);
      case TableForm::experts:
        return add_experts(row);
      case TableForm::collective:
        return add_collective(row);
    }
  }

  // What is no number states no power: that is no reason to refuse a table of times.
  void note_power(const TableRow& row, std::size_t index) {
    const std::uint32_t line = power_ ? row.line() : 0;
    if (line == 0) return;
    const std::string_view text = table_.row(index)[*power_];
    const auto watts = read_number<double>(text);
    if (watts && *watts > 0 && *watts < 1e6) {
      out_.power_w.emplace(line, *watts);
    }
  }

  bool skip(std::string reason) {
    ++out_.skipped[std::move(reason)];
    return false;
  }
  // A data type that nobody here knows is no fault of the table.
  bool set_dtype(Params& params, std::string_view name, std::string_view text) {
    const auto dtype = table_dtype(text);
    if (!dtype) return skip("no data type '" + printable(text) + "'");
    params.set(name, as_int64(*dtype));
    return true;
  }

  // `problem` is complete.
  void add(const TableRow& row, std::string_view dtype, std::string part, Problem problem,
           double ns) {
    SeriesIdentity identity = row.identity();
    identity.op = problem.op;
    identity.dtype = dtypes_of(problem);
    identity.block = block_of(dtype);
    // Rows of one series mostly follow each other.
    if (last_ >= out_.series.size() || out_.series[last_].identity != identity ||
        out_.series[last_].part != part) {
      const auto found = std::ranges::find_if(out_.series, [&](const KernelSeries& s) {
        return s.identity == identity && s.part == part;
      });
      last_ = as_size(found - out_.series.begin());
      if (found == out_.series.end()) {
        out_.series.push_back({std::move(identity), std::move(part), {}});
      }
    }
    out_.series[last_].points.add({std::move(problem), ns, row.line()});
  }

  // What complete_problem checks, except for lists of data types.
  static void check(const TableRow& row, Problem& problem) {
    const OpContract& contract = *find_contract(problem.op);
    for (const ParamSpec& spec : contract.params()) {
      const auto value = problem.params.find(spec.name);
      if (spec.derived) continue;
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

  static void set_packed(const PackedType& type, Problem& problem) {
    problem.params.set("block", type.block);
    problem.params.set("src_dtype", as_int64(type.source));
    problem.params.set("wei_dtype", as_int64(type.weights));
    problem.params.set("dst_dtype", as_int64(Dtype::bf16));
    problem.params.set("scale_bits", type.scale_bits);
  }

  // A product whose weights are packed is another op.
  bool add_packed(const TableRow& row) {
    if (row.layout().name != "gemm") return false;
    const PackedType* type = packed_type(row.text("wei_dtype"));
    if (type == nullptr) return false;
    Problem problem{"packed_gemm", {}};
    for (const char* size : {"m", "n", "k"}) problem.params.set(size, row.integer(size));
    set_packed(*type, problem);
    check(row, problem);
    add(row, type->name, "", std::move(problem), row.ns());
    return true;
  }

  void add_plain(const TableRow& row) {
    if (add_packed(row)) return;
    const TableLayout& layout = row.layout();
    Problem problem{layout.op, {}};
    const OpContract& contract = *find_contract(layout.op);
    std::string_view first_dtype;
    for (const auto p : indices(layout.parameters)) {
      const std::string& name = layout.parameters[p].name;
      const auto spec = std::ranges::find(contract.params(), name, &ParamSpec::name);
      if (spec->kind == ParamKind::dtype) {
        if (first_dtype.empty()) first_dtype = row.text(p);
        if (!set_dtype(problem.params, name, row.text(p))) return;
      } else {
        problem.params.set(name, row.integer(p));
      }
    }
    check(row, problem);
    add(row, first_dtype, "", std::move(problem), row.ns());
  }

  struct Heaviest {
    std::int64_t rank = 0, rows = 0;
  };
  // The heaviest rank: the one that the table's per-rank times are of.
  Heaviest heaviest(const TableRow& row, std::int64_t skew) {
    const auto key = std::tuple(row.integer("tokens"), row.integer("top_k"), row.integer("experts"),
                                row.integer("ep_size"), skew);
    const auto [it, is_new] = heaviest_.try_emplace(key, Heaviest{});
    if (is_new) {
      const auto& [tokens, top_k, experts, ep_size, percent] = key;
      if (tokens < 1 || top_k < 1 || top_k > experts || ep_size < 1 || experts % ep_size != 0) {
        row.fail("tokens, top_k, experts and ep_size do not fit together");
      }
      const auto counts = routing_counts(tokens, top_k, experts, percent);
      const std::int64_t rank = heaviest_rank(counts, ep_size);
      it->second = {rank, rows_of(counts, local_experts(experts, ep_size, rank))};
    }
    return it->second;
  }

  // Whose matrices are still to be set; nothing where the row is skipped. Finding a routing anew
  // takes longer than everything else about a row, so its ranks are kept.
  std::optional<Problem> experts_problem(const TableRow& row) {
    const auto skew = skew_of(row);
    if (!skew) {
      skip("distribution '" + printable(row.text("distribution")) + "'");
      return std::nullopt;
    }
    const std::string_view dtype = row.text("src_dtype");
    const PackedType* packed = packed_type(dtype);
    const Heaviest of = heaviest(row, *skew);
    Problem problem{packed != nullptr ? "packed_grouped_gemm" : "grouped_gemm",
                    {{"tokens", row.integer("tokens")},
                     {"top_k", row.integer("top_k")},
                     {"experts", row.integer("experts")},
                     {"skew", *skew},
                     {"ep_size", row.integer("ep_size")},
                     {"ep_rank", of.rank},
                     {"rows", of.rows},
                     {"dst_dtype", as_int64(Dtype::bf16)}}};
    if (packed != nullptr) {
      set_packed(*packed, problem);
      return problem;
    }
    problem.params.set("wei_trans", 1);
    if (!set_dtype(problem.params, "src_dtype", dtype) ||
        !set_dtype(problem.params, "wei_dtype", dtype)) {
      return std::nullopt;
    }
    return problem;
  }

  void add_matrix(const TableRow& row, const char* part, Problem problem, std::int64_t n,
                  std::int64_t k, double ns) {
    const OpContract& contract = *find_contract(problem.op);
    for (const auto& [name, value] : {std::pair{"n", n}, {"k", k}}) {
      const auto spec = std::ranges::find(contract.params(), name, &ParamSpec::name);
      if (value < spec->low || value > spec->high) {
        row.fail(std::string(name) + " " + std::to_string(value) + " is not in " +
                 std::to_string(spec->low) + ".." + std::to_string(spec->high));
      }
      problem.params.set(name, value);
    }
    add(row, row.text("src_dtype"), part, std::move(problem), ns);
  }

  // A fused row is shared out by FLOPs: gate and up (one matrix without a gate) and down do the
  // same work per matrix.
  void add_experts(const TableRow& row) {
    const auto problem = experts_problem(row);
    if (!problem) return;
    const std::int64_t hidden = row.integer("hidden"), width = row.integer("width");
    const std::int64_t expert_tp = row.integer("expert_tp");
    if (expert_tp < 1 || width % expert_tp != 0) row.fail("expert_tp does not divide the width");
    const std::string kernel_source = row.identity().kernel_source;
    const std::int64_t up_matrices = kernel_source.find("nongated") == std::string::npos ? 2 : 1;
    const double ns = row.ns() / as_double(up_matrices + 1);
    add_matrix(row, "up", *problem, up_matrices * width / expert_tp, hidden,
               ns * as_double(up_matrices));
    add_matrix(row, "down", *problem, hidden, width / expert_tp, ns);
  }

  void add_collective(const TableRow& row) {
    std::string op(row.text("op"));
    if (op == "alltoall") op = "all_to_all";
    if (find_contract(op) == nullptr) {
      skip("no op '" + printable(op) + "'");
      return;
    }
    const auto dtype = table_dtype(row.text("dtype"));
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
    const auto type = as_int64(*dtype);
    Problem problem =
        with_one_16_bit_type({op, {{"bytes", bytes}, {"ranks", ranks}, {"dtype", type}}});
    check(row, problem);
    add(row, row.text("dtype"), "", std::move(problem), row.ns());
  }

  const CsvTable& table_;
  std::vector<BoundLayout> layouts_;
  ImportedTable out_;
  std::size_t last_ = 0;              // series
  std::optional<std::size_t> power_;  // column
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
           Heaviest>
      heaviest_;
};

}  // namespace

ImportedTable kernel_table(const CsvTable& table, const TableLayouts& layouts) {
  return Reader(table, layouts).read();
}

ImportedTable read_kernel_table(const std::string& path, const std::string& layout_path) {
  TableLayouts layouts;
  if (!layout_path.empty()) layouts.push_back(read_layout(layout_path));
  const CsvTable table = CsvTable::read(path, [&](const CsvTable& head) {
    if (layouts.empty()) layouts = known_layouts(head);
    if (!layouts.empty()) return;
    const FileKind* kind = kind_of(beginning_of(path));
    if (kind != nullptr && kind->format == FileFormat::csv) {
      throw other_kind(beginning_of(path), path, "a table of kernel times in a known layout");
    }
    throw refused("its columns fit no known layout", head.name() + ":1",
                  "describe them in a layout file, see framework/latency/imported/README.md");
  });
  return kernel_table(table, layouts);
}

}  // namespace halmark
