#include "latency/forecast/forecast_source.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "latency/imported/kernel_table.hpp"
#include "latency/interpolation/efficiency_curve.hpp"
#include "latency/interpolation/implementations.hpp"
#include "latency/judged.hpp"
#include "parquet/parquet_reader.hpp"

namespace halmark {
namespace {

constexpr std::string_view packed_prefix = "packed_";
// Tables that have both (experts of A100, H100, H200 and L40S, products of A100) give weights that
// are widened on the way half the memory rate; of 90 % of their times these are the ratios.
constexpr double widening = 2, widened_low = 0.5, widened_high = 2.5;

bool is_collective(const Problem& problem) {
  const OpContract* contract = find_contract(problem.op);
  return contract != nullptr && contract->is_collective();
}

// Kinds of published tables that may have a problem, in order of preference.
std::vector<std::string> published_kinds_of(const Problem& problem) {
  const auto is = [&](std::string_view name) { return problem.params.value_or(name, 0) != 0; };
  const std::string& op = problem.op;
  if (op == "gemm" || op == "packed_gemm") return {"gemm"};
  if (op == "batched_gemm") return {"mla_bmm"};
  if (op == "grouped_gemm" || op == "packed_grouped_gemm") return {"moe"};
  if (op == "latent_attention") return {is("absorbed") ? "generation_mla" : "context_mla"};
  if (op == "delta_rule") return {"gdn"};
  if (op == "short_convolution") return {"gdn", "mamba2"};
  if (op == "all_reduce") return {"custom_allreduce", "nccl"};
  if (op == "attention") {
    if (problem.params.at("new_tokens") == 1) return {"generation_attention"};
    return {is("causal") ? "context_attention" : "encoder_attention"};
  }
  if (is_collective(problem)) return {"nccl"};
  return {};
}

// Rows in the words of the op itself are of a device that was onboarded.
std::vector<std::string> kinds_of(const Problem& problem) {
  std::vector<std::string> out = published_kinds_of(problem);
  out.insert(out.begin(), std::string(op_kind_prefix) + problem.op);
  return out;
}

// Rows whose types and heads are as wide as the problem's: others teach little, and most of a table
// is of others.
std::vector<CsvTable::RowChoice> rows_for(const Problem& problem, const std::string& kind) {
  std::vector<CsvTable::RowChoice> out;
  if (is_collective(problem)) return out;
  for (const TableLayout& layout : layouts_of_kind(kind)) {
    for (const TableParameter& p : layout.parameters) {
      if (p.name == "head_dim") {
        out.push_back({p.column, [width = std::to_string(problem.params.at("head_dim"))](
                                     std::string_view text) { return text == width; }});
      }
      if (p.column.empty() || !p.name.ends_with("dtype")) continue;
      if (problem.op.starts_with(packed_prefix)) {
        out.push_back(
            {p.column, [source = problem.params.dtype("src_dtype"),
                        weights = problem.params.dtype("wei_dtype")](std::string_view text) {
               const PackedType* type = packed_type(text);
               return type != nullptr && type->source == source && type->weights == weights;
             }});
        continue;
      }
      out.push_back(
          {p.column, [bits = dtype_bits(problem.params.dtype(p.name))](std::string_view text) {
             const auto dtype = table_dtype(text);
             return dtype && dtype_bits(*dtype) == bits;
           }});
    }
  }
  return out;
}

// What the layouts of a kind read.
std::set<std::string> columns_of(const TableLayouts& layouts) {
  std::set<std::string> out = {"kernel_source", "backend"};
  for (const TableLayout& layout : layouts) {
    out.insert(layout.time_column);
    for (const TableCondition& condition : layout.conditions) out.insert(condition.column);
    for (const TableParameter& p : layout.parameters) {
      out.insert(p.column);
      for (const TableTerm& term : p.terms) out.insert(term.columns.begin(), term.columns.end());
    }
  }
  return out;
}

// The widest of the series of that kernel; of all where none names it.
InterpolationFamily::StatedErrors errors_of(const ForecastKind& kind,
                                            const SeriesIdentity& identity) {
  InterpolationFamily::StatedErrors out;
  const auto widen = [](auto& to, const auto& by) {
    to.low = std::min(to.low, by.low);
    to.high = std::max(to.high, by.high);
  };
  const auto names = [&](const ForecastSeries& series) {
    return series.name.find(identity.kernel_source) != series.name.npos;
  };
  const bool is_named = std::ranges::any_of(kind.series, names);
  for (const ForecastSeries& series : kind.series) {
    if (is_named && !names(series)) continue;
    widen(out.of_points, series.errors.of_points);
    widen(out.of_shapes, series.errors.of_shapes);
  }
  return out;
}

}  // namespace

ForecastSource::ForecastSource(ForecastFile file, const Device& target,
                               std::optional<double> network_bytes_per_s, Joins joins)
    : file_(std::move(file)),
      target_(target),
      network_bytes_per_s_(network_bytes_per_s),
      joins_(std::move(joins)) {
  std::string bytes = read_input(file_.path, table_input);
  if (sha256_of(bytes) != file_.sha256) {
    throw refused("is not the file that its manifest states: another sha256", file_.path,
                  "restore it, or ask for bounds alone by --latency roofline");
  }
  reader_ = std::make_unique<ParquetReader>(std::move(bytes), file_.path);
  const auto kind = std::ranges::find(reader_->columns(), "kind", &ParquetColumn::name);
  if (kind == reader_->columns().end() || kind->kind != ParquetKind::text) {
    throw refused("has no column 'kind'", file_.path);
  }
  const auto column = as_size(kind - reader_->columns().begin());
  for (std::size_t group = 0; group < reader_->row_groups(); ++group) {
    ParquetRows rows(*reader_, {column}, {group});
    if (rows.next()) groups_[std::string(rows.values(0).texts.front())].push_back(group);
  }
}

ForecastSource::~ForecastSource() = default;

std::string ForecastSource::name() const {
  return "forecast " + file_.engine + ' ' + file_.release;
}

TableUse& ForecastSource::use_of(const ForecastKind& kind) const {
  const std::string name = kind.source();
  const auto known = std::ranges::find(use_, name, &TableUse::name);
  if (known != use_.end()) return *known;
  TableUse& out = use_.emplace_back();
  out.name = name;
  const std::filesystem::path path = file_.path;
  out.file = name + " (" + (path.parent_path().filename() / path.filename()).string() + ')';
  out.device = file_.device;
  out.is_forecast = true;
  return out;
}

void ForecastSource::read(const ForecastKind& kind, const Problem& problem, Kernels& to) const {
  const auto* groups = find_value(groups_, kind.name);
  if (!groups) return;
  std::vector<CsvTable::RowChoice> choices = rows_for(problem, kind.name);
  const TableLayouts layouts = layouts_of_kind(kind.name);
  const std::set<std::string> columns = columns_of(layouts);
  CsvTable rows = CsvTable::of_groups(*reader_, *groups, columns, choices);
  if (rows.rows() == 0 && problem.params.find("head_dim")) {
    std::erase_if(choices, [](const auto& choice) { return choice.column == "head_dim"; });
    rows = CsvTable::of_groups(*reader_, *groups, columns, choices);
  }
  if (rows.rows() == 0) return;
  const bool is_of_op = kind.name.starts_with(op_kind_prefix);
  ImportedTable table = kernel_table(rows, is_of_op ? layouts : known_layouts(rows));
  table.name = kind.source();
  TableUse& use = use_of(kind);
  use.rows += table.rows;
  std::vector<TableSeries> series;
  for (KernelSeries& one : table.series) {
    one.part.clear();  // both products of fused experts: the nearest shapes tell which it is
    series.push_back({&table, &one});
    const std::string name = one.identity.text();
    auto* known = find_or_null(use.series, name, &SeriesUse::name);
    SeriesUse& of =
        known != nullptr ? *known : use.series.emplace_back(SeriesUse{.name = name, .reason = {}});
    of.points += one.points.size();
  }
  each_implementation(series, [&](std::size_t first, const auto& points, PointsOrigin origin) {
    to.emplace_back(target_, network_bytes_per_s_)
        .add(points, target_, std::move(origin), errors_of(kind, table.series[first].identity));
  });
}

const ForecastSource::Kernels& ForecastSource::kernels(const Problem& problem) const {
  const std::vector<std::string> kinds = kinds_of(problem);
  std::string key = problem.op + ' ' + dtypes_of(problem) + ' ' +
                    std::to_string(problem.params.value_or("head_dim", 0)) + ' ' +
                    std::to_string(problem.params.value_or("wei_dtype", 0));
  for (const std::string& kind : kinds) key += ' ' + kind;
  const auto* known = find_value(kernels_, key);
  if (known) return *known;
  Kernels out;
  for (const std::string& name : kinds) {
    const auto* kind = find_or_null(file_.kinds, name, &ForecastKind::name);
    if (kind) read(*kind, problem, out);
  }
  return kernels_.emplace(std::move(key), std::move(out)).first->second;
}

std::optional<Latency> ForecastSource::latency(const Problem& problem, const Work& work,
                                               std::int64_t stride) const {
  if (is_collective(problem) && !joins_(problem.params.value_or("ranks", 1) * stride)) {
    return std::nullopt;
  }
  const auto worth = [](const Latency& latency) {
    return std::pair(latency.status == Status::quarantined, latency.ns);
  };
  std::optional<Latency> out;
  // Kernels that were measured around the problem go before those that were not.
  for (const bool is_outside : {false, true}) {
    for (const InterpolatedSource& kernel : kernels(problem)) {
      if (kernel.is_outside(problem) != is_outside) continue;
      auto latency = kernel.latency(problem, work);
      if (latency && (!out || worth(*latency) < worth(*out))) out = std::move(latency);
    }
    if (out) break;
  }
  if (!out && problem.op.starts_with(packed_prefix)) return of_wide_weights(problem, work);
  if (!out) return out;
  if (out->status != Status::quarantined) out->ns = std::max(out->ns, out->lower_bound_ns);
  out->low_ns = std::clamp(out->low_ns, std::min(out->lower_bound_ns, out->ns), out->ns);
  out->high_ns = std::max(out->high_ns, out->ns);
  return out;
}

std::optional<Latency> ForecastSource::of_wide_weights(const Problem& packed,
                                                       const Work& work) const {
  Problem wide{packed.op.substr(packed_prefix.size()), {}};
  const OpContract& contract = *find_contract(wide.op);
  for (const ParamSpec& spec : contract.params()) {
    const auto value = packed.params.find(spec.name);
    if (spec.kind == ParamKind::dtype) {
      wide.params.set(spec.name, as_int64(Dtype::bf16));
    } else if (value && !spec.derived) {
      wide.params.set(spec.name, *value);
    }
  }
  wide.params.set("wei_trans", 1);
  wide = complete_problem(std::move(wide));
  const auto known = latency(wide, contract.work(wide.params), 1);
  const ResourceRates rates(target_, network_bytes_per_s_);
  auto narrow = rates.of(packed);
  const auto whole = rates.of(wide);
  if (!known || known->status == Status::quarantined || !narrow || !whole) return std::nullopt;
  narrow->memory_ns *= widening;
  const double ratio =
      (graph_launch_ns + narrow->largest_ns()) / (graph_launch_ns + whole->largest_ns());
  const roofline::Bound bound =
      roofline::step_bound(packed, work, roofline::Ceilings(target_, 0, 1, network_bytes_per_s_));
  Latency out{.ns = std::max(known->ns * ratio, bound.ns()),
              .provenance = Provenance::interpolated};
  out.low_ns = std::clamp(out.ns * widened_low, std::min(bound.ns(), out.ns), out.ns);
  out.high_ns = out.ns * widened_high;
  out.origin = "packed weights by those of 16 bits of " + known->origin;
  out.reason = out.origin + "; 90 % interval of tables that have both";
  return judged(std::move(out), bound);
}

std::vector<TableUse> ForecastSource::use() const { return use_; }

}  // namespace halmark
