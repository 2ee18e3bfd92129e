#include "profile/kernels/kernel_binding.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "profile/kernels/kernel_category.hpp"
#include "profile/kernels/kernel_layer_type.hpp"
#include "profile/kernels/kernel_shares.hpp"

namespace halmark {
namespace {

using Indices = std::vector<std::int32_t>;

std::string names_of(const OperatorGraph& graph, const Indices& operators) {
  return join(operators, ", ",
              [&](const std::int32_t i) { return graph.operators[as_size(i)].name; });
}

class Binder {
 public:
  Binder(const KernelLayer& layer, const OperatorGraph& graph, std::int32_t type)
      : layer_(layer), graph_(graph) {
    // What a layer executes several times is one operator here; it stands in a row.
    std::ranges::unique_copy(graph.layer_types[as_size(type)].operators,
                             std::back_inserter(operators_));
    out_.layer_type = type;
    out_.kernels.resize(layer.kernels.size());
    is_done_.assign(layer.kernels.size(), false);
    find_halves();
  }

  BoundLayer bind() {
    bind_explicit();
    bind_shapes();
    for (const KernelCategory& category : all_kernel_categories()) {
      if (category.kind != KernelCategory::Kind::product) bind_category(category);
    }
    bind_products();
    judge_unknown();
    share_work(layer_, out_);
    find_unmeasured();
    return std::move(out_);
  }

 private:
  const Operator& op(std::int32_t i) const { return graph_.operators[as_size(i)]; }
  const ProfiledKernel& row(std::size_t i) const { return layer_.kernels[i]; }

  // Everything up to the residual after attention, or to the last operator that says it belongs to
  // attention, is the attention half.
  void find_halves() {
    std::size_t end = 0;
    for (const auto i : indices(operators_)) {
      const Operator& o = op(operators_[i]);
      if (o.kind == OperatorKind::attention || o.name.starts_with("attention") ||
          o.name.starts_with("o_")) {
        end = i + 1;
      }
    }
    for (const auto i : indices(operators_)) {
      half_[operators_[i]] = i < end ? LayerHalf::attention : LayerHalf::feed_forward;
    }
  }

  void set(std::size_t i, BindingStatus status, const Indices& operators, std::string how) {
    KernelBinding& binding = out_.kernels[i];
    binding.status = status;
    binding.how = std::move(how);
    if (status == BindingStatus::ambiguous) binding.candidates = operators;
    if (status == BindingStatus::bound) {
      for (const std::int32_t o : operators) binding.operators.push_back({o, 1});
      for (const std::int32_t o : operators) is_taken_[o] = true;
    }
    is_done_[i] = true;
  }

  void bind_explicit() {
    auto names = mapped(operators_, [&](const std::int32_t o) { return op(o).name; });
    for (const auto i : indices(layer_.kernels)) {
      if (row(i).operators.empty()) continue;
      Indices bound;
      for (const std::string& name : row(i).operators) {
        const auto it = std::ranges::find(names, name);
        if (it == names.end()) {
          throw refused("unknown operator '" + printable(name) + "' of layer type " +
                            graph_.layer_types[as_size(out_.layer_type)].name,
                        row(i).where, suggestion(name, names));
        }
        const std::int32_t found = operators_[as_size(it - names.begin())];
        if (!contains(bound, found)) bound.push_back(found);
      }
      set(i, BindingStatus::bound, bound, "explicit");
    }
  }

  void bind_shapes() {
    for (const auto i : indices(layer_.kernels)) {
      if (is_done_[i] || !row(i).shape) continue;
      const auto [m, n, k] = *row(i).shape;
      Indices same;
      for (const std::int32_t o : operators_) {
        const Params& p = op(o).local.params;
        if (p.find("m") == m && p.find("n") == n && p.find("k") == k) same.push_back(o);
      }
      if (same.size() == 1) {
        set(i, BindingStatus::bound, same, "shape");
      } else if (same.empty()) {
        set(i, BindingStatus::unknown, {}, "no matrix product of this layer has the shape");
      } else {
        set(i, BindingStatus::ambiguous, same, "several operators have the shape");
      }
    }
  }

  std::vector<std::size_t> open_rows(std::string_view category) const {
    std::vector<std::size_t> out;
    for (const auto i : indices(layer_.kernels)) {
      if (!is_done_[i] && row(i).category == category) out.push_back(i);
    }
    return out;
  }

  bool is_taken(std::int32_t o) const { return is_taken_.contains(o); }

  Indices open_operators(const KernelCategory& category) const {
    Indices out;
    for (const std::int32_t o : operators_) {
      if (!is_taken(o) && category.claims(op(o))) out.push_back(o);
    }
    return out;
  }

  void bind_category(const KernelCategory& category) {
    const std::vector<std::size_t> rows = open_rows(category.name);
    if (rows.empty()) return;
    if (category.kind == KernelCategory::Kind::overhead) {
      for (const std::size_t i : rows) set(i, BindingStatus::overhead, {}, "");
      return;
    }
    const Indices operators = open_operators(category);
    if (operators.empty()) {
      const bool is_known = category.kind == KernelCategory::Kind::bookkeeping;
      for (const std::size_t i : rows) {
        set(i, is_known ? BindingStatus::unpriced : BindingStatus::unknown, {},
            "this layer has no such operator");
      }
      return;
    }
    if (category.kind == KernelCategory::Kind::whole) {
      bind_whole(rows, operators);
    } else {
      bind_halves(rows, operators);
    }
  }

  // One thing in several operators: as many rows as it has matrix products (or operators) are these
  // in order, otherwise every row is all of them.
  void bind_whole(const std::vector<std::size_t>& rows, const Indices& operators) {
    Indices products;
    std::ranges::copy_if(operators, std::back_inserter(products),
                         [&](std::int32_t o) { return op(o).rank_work.matmul_flops > 0; });
    for (const Indices& parts : {products, operators}) {
      if (rows.size() > 1 && rows.size() == parts.size()) return bind_in_order(rows, parts);
    }
    for (const std::size_t i : rows) set(i, BindingStatus::bound, operators, "category");
  }

  // Where every row says its half, the halves are judged apart.
  void bind_halves(const std::vector<std::size_t>& rows, const Indices& operators) {
    const bool are_stated = std::ranges::none_of(
        rows, [&](std::size_t i) { return row(i).half == LayerHalf::unstated; });
    if (!are_stated) return bind_single(rows, operators);
    for (const LayerHalf half : {LayerHalf::attention, LayerHalf::feed_forward}) {
      std::vector<std::size_t> some_rows;
      Indices some;
      std::ranges::copy_if(rows, std::back_inserter(some_rows),
                           [&](std::size_t i) { return row(i).half == half; });
      std::ranges::copy_if(operators, std::back_inserter(some),
                           [&](std::int32_t o) { return half_.at(o) == half; });
      if (!some_rows.empty()) bind_single(some_rows, some.empty() ? operators : some);
    }
  }

  void bind_single(const std::vector<std::size_t>& rows, const Indices& operators) {
    const bool is_total = rows.size() == 1 && row(rows.front()).is_category_total;
    if (is_total) return set(rows.front(), BindingStatus::bound, operators, "category total");
    if (rows.size() == operators.size()) return bind_in_order(rows, operators);
    if (operators.size() == 1) {
      for (const std::size_t i : rows) set(i, BindingStatus::bound, operators, "only operator");
      return;
    }
    for (const std::size_t i : rows) {
      set(i, BindingStatus::ambiguous, operators,
          std::to_string(rows.size()) + " rows for " + std::to_string(operators.size()) +
              " operators: " + names_of(graph_, operators));
    }
  }

  void bind_in_order(const std::vector<std::size_t>& rows, const Indices& operators) {
    for (const auto i : indices(rows)) {
      set(rows[i], BindingStatus::bound, {operators[i]},
          operators.size() == 1 ? "only operator" : "order");
    }
  }

  // Types first: rows of one type are the products of that type. Where a table's types are not the
  // graph's, all products together may still match in number.
  void bind_products() {
    for (const KernelCategory& category : all_kernel_categories()) {
      if (category.kind != KernelCategory::Kind::product) continue;
      const std::vector<std::size_t> rows = open_rows(category.name);
      const Indices operators = of_class(open_operators(category), category.dtype);
      const bool is_total = rows.size() == 1 && row(rows.front()).is_category_total;
      if (rows.empty() || operators.empty()) continue;
      if (is_total || rows.size() == operators.size()) bind_halves(rows, operators);
    }
    std::vector<std::size_t> rest;
    for (const auto i : indices(layer_.kernels)) {
      const KernelCategory* category = find_kernel_category(row(i).category);
      const bool is_product = category && category->kind == KernelCategory::Kind::product;
      if (!is_done_[i] && is_product) rest.push_back(i);
    }
    if (!rest.empty()) bind_rest(rest);
  }

  Indices of_class(const Indices& operators, std::optional<Dtype> dtype) const {
    Indices out;
    std::ranges::copy_if(operators, std::back_inserter(out), [&](std::int32_t o) {
      return !dtype || is_same_class(op(o).dtype, *dtype);
    });
    return out;
  }

  void bind_rest(const std::vector<std::size_t>& rows) {
    const Indices all = open_operators(*find_kernel_category("gemm"));
    if (all.empty()) {
      for (const std::size_t i : rows) {
        set(i, BindingStatus::unknown, {}, "this layer has no further matrix product");
      }
      return;
    }
    if (rows.size() == all.size()) return bind_halves(rows, all);
    for (const std::size_t i : rows) {
      Indices candidates = of_class(all, find_kernel_category(row(i).category)->dtype);
      if (candidates.empty()) candidates = all;
      bind_row_or_keep(i, candidates, rows.size());
    }
  }

  void bind_row_or_keep(std::size_t i, const Indices& candidates, std::size_t rows) {
    if (row(i).half != LayerHalf::unstated) {
      Indices half;
      std::ranges::copy_if(candidates, std::back_inserter(half),
                           [&](std::int32_t o) { return half_.at(o) == row(i).half; });
      if (!half.empty()) {
        return set(i, BindingStatus::ambiguous, half, "which product of this half is not said");
      }
    }
    set(i, BindingStatus::ambiguous, candidates,
        std::to_string(rows) + " rows for " + std::to_string(candidates.size()) +
            " matrix products; \"operator\" says which");
  }

  void judge_unknown() {
    for (const auto i : indices(layer_.kernels)) {
      if (!is_done_[i]) set(i, BindingStatus::unknown, {}, "the category is not known");
    }
  }

  void find_unmeasured() {
    for (const std::int32_t o : operators_) {
      if (op(o).rank_work.matmul_flops <= 0 || is_taken(o)) continue;
      const bool is_candidate = std::ranges::any_of(
          out_.kernels,
          [&](const KernelBinding& binding) { return contains(binding.candidates, o); });
      if (!is_candidate) out_.unmeasured.push_back(o);
    }
  }

  const KernelLayer& layer_;
  const OperatorGraph& graph_;
  Indices operators_;
  std::map<std::int32_t, LayerHalf> half_;
  std::map<std::int32_t, bool> is_taken_;
  std::vector<bool> is_done_;
  BoundLayer out_;
};

}  // namespace

std::string_view binding_status_name(BindingStatus status) {
  switch (status) {
    case BindingStatus::bound:
      return "bound";
    case BindingStatus::shared:
      return "shared";
    case BindingStatus::ambiguous:
      return "ambiguous";
    case BindingStatus::unpriced:
      return "unpriced";
    case BindingStatus::overhead:
      return "overhead";
    case BindingStatus::unknown:
      return "unknown";
  }
  return "";
}

BoundLayer bind_kernels(const KernelLayer& layer, const OperatorGraph& graph) {
  return Binder(layer, graph, layer_type_of(layer, graph)).bind();
}

}  // namespace halmark
