// The verbs of GraphBuilder for routed experts. Which rows lie where says expert_rows.cpp.
#include <optional>
#include <utility>

#include "core/lists.hpp"
#include "model/graph/draft.hpp"

namespace halmark {

using draft::exchanged;
using draft::number;
using draft::shape;

// `make` gives the problem of a place. The heaviest rank's is the local one; of_expert_rank only
// where ranks differ.
template <typename Make>
void GraphBuilder::add_routed(Draft draft, const RowPlaces& places, const Make& make) {
  draft.local = make(places.heaviest);
  if (graph_.configuration.workload.routing_skew == 0) {
    draft.routed = routed_share();
    draft.routed->is_of_group = places.is_of_group;
    draft.whole_weights = rows_.whole_weights;
  }
  if (places.heaviest.ep_size.constant() > 1) {
    draft.split = Split::expert;
    if (expert_ranks_ == ExpertRanks::each) {
      for (const RowPlace& place : places.of_ranks) {
        draft.of_expert_rank.push_back(place.rows.value() > 0 ? std::optional(make(place).problem)
                                                              : std::nullopt);
      }
    }
  }
  add(std::move(draft));
}

void GraphBuilder::route(std::string name, const ExpertSpec& experts) {
  add({.name = std::move(name),
       .kind = OperatorKind::routing,
       .shape_in = shape({tokens_.whole, experts.experts}),
       .shape_out = shape({tokens_.whole, experts.top_k})},
      "moe_route", [&](auto side) {
        return Sizing{{"tokens", tokens_.*side},
                      {"experts", experts.experts},
                      {"top_k", experts.top_k},
                      {"src_dtype", number(precision().activation)},
                      {"scoring", as_int64(experts.scoring)},
                      {"renormalize", experts.renormalize ? 1 : 0}};
      });
}

void GraphBuilder::move_rows(std::string name, const char* op, const Size& rows_in,
                             const Size& rows_out) {
  const std::int64_t hidden = routed_width();
  const auto make = [&](const RowPlace& place) {
    Sizing params = routed_params(place);
    params.set("hidden", hidden);
    params.set("dtype", number(precision().activation));
    return sized_problem(op, params);
  };
  add_routed({.name = std::move(name),
              .kind = OperatorKind::routing,
              .whole = make(whole_rows()).problem,
              .shape_in = shape({rows_in, hidden}),
              .shape_out = shape({rows_out, hidden})},
             tensor_rows(), make);
}

void GraphBuilder::dispatch(std::string name) {
  move_rows(std::move(name), "moe_dispatch", tokens_.whole, rows_.whole);
}

void GraphBuilder::combine(std::string name) {
  move_rows(std::move(name), "moe_combine", rows_.whole, tokens_.whole);
}

// Every rank sends as much to every other as the busiest pair exchanges: the collective is uniform,
// and nobody is done before that pair is.
void GraphBuilder::exchange_rows(std::string name) {
  if (layout_.across_replicas == 1) return;
  const std::int64_t hidden = routed_width();
  const Size values = rows_.of_pair_max * (layout_.across_replicas * hidden);
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::expert,
       .local = exchanged("all_to_all", precision().activation, values, layout_.across_replicas),
       .shape_in = shape({rows_.whole, hidden})});
}

void GraphBuilder::regroup_rows(std::string name) {
  if (layout_.across_replicas == 1) return;
  const std::int64_t hidden = routed_width();
  add_routed({.name = std::move(name),
              .kind = OperatorKind::routing,
              .shape_in = shape({rows_.whole, hidden})},
             group_rows(), [&](const RowPlace& place) {
               const Size bytes = dtype_bytes(precision().activation, place.rows * hidden);
               return sized_problem("copy", {{"bytes", bytes}});
             });
}

void GraphBuilder::quantize_rows(std::string name, Extent columns) {
  const Stored linear = stored_behind(name, precision().experts);
  if (!quantizes_for(linear)) return;
  const auto make = [&](const RowPlace& place) {
    return quantize_problem(place.rows, columns.*place.side, linear);
  };
  add_routed({.name = std::move(name),
              .kind = OperatorKind::quantize,
              .split = columns.whole.constant() == columns.local.constant() ? Split::replicated
                                                                            : Split::column,
              .whole = make(whole_rows()).problem,
              .shape_in = shape({rows_.whole, columns.whole})},
             group_rows(), make);
}

void GraphBuilder::expert_linear(const ExpertLinearSpec& spec) {
  const Stored stored = this->stored(spec.name, precision().experts);
  const Dtype dtype = stored.dtype;
  const bool has_packed = stored.is_packed;
  const bool is_int8 = dtype == Dtype::s8 && !has_packed;
  const auto make = [&](const RowPlace& place) {
    Sizing params = routed_params(place);
    params.set("n", spec.columns_out.*place.side);
    params.set("k", spec.columns_in.*place.side);
    if (has_packed) {
      set_packed(params, stored, spec.columns_in.*place.side);
      return sized_problem("packed_grouped_gemm", params);
    }
    params.set("src_dtype", number(dtype));
    params.set("wei_dtype", number(dtype));
    params.set("dst_dtype", number(is_int8 ? Dtype::s32 : precision().activation));
    params.set("wei_trans", 1);
    return sized_problem("grouped_gemm", params);
  };
  const Size weights = spec.columns_in.whole * spec.columns_out.whole;
  Extent bias;
  if (spec.has_bias) {
    bias = {graph_.spec.moe->experts * spec.columns_out.whole,
            graph_.expert_use->held_per_rank * spec.columns_out.local};
  }
  const Extent scales = {graph_.spec.moe->experts *
                             scale_bytes_of(stored, spec.columns_out.whole, spec.columns_in.whole),
                         graph_.expert_use->held_per_rank *
                             scale_bytes_of(stored, spec.columns_out.local, spec.columns_in.local)};
  const std::string dims_out = shape({rows_.whole, spec.columns_out.whole});
  add_routed({.name = spec.name,
              .kind = OperatorKind::experts,
              .split = spec.split,
              .whole = make(whole_rows()).problem,
              .shape_in = shape({rows_.whole, spec.columns_in.whole}),
              .shape_out = dims_out,
              .active_parameters = (graph_.spec.moe->top_k * weights).constant(),
              .bias = bias,
              .bias_dtype = precision().activation,
              .scale_bytes = scales},
             group_rows(), make);
  if (!is_int8) return;

  // One scale per column, as for a single linear; every expert has its own, which is 4 bytes beside
  // the k bytes of the column's weights.
  const auto make_back = [&](const RowPlace& place) {
    return sized_problem("dequantize", {{"rows", place.rows},
                                        {"cols", spec.columns_out.*place.side},
                                        {"src_dtype", number(Dtype::s32)},
                                        {"dst_dtype", number(precision().activation)}});
  };
  add_routed({.name = spec.name + "_dequantize",
              .kind = OperatorKind::quantize,
              .split = spec.split == Split::row ? Split::replicated : spec.split,
              .whole = make_back(whole_rows()).problem,
              .shape_in = dims_out,
              .shape_out = dims_out,
              .has_parameters = false},
             group_rows(), make_back);
}

void GraphBuilder::expert_gated_activation(std::string name, Extent columns, GateKind kind) {
  const std::int64_t dtype = number(precision().activation);
  const auto make = [&](const RowPlace& place) {
    return sized_problem("gated_activation", {{"rows", place.rows},
                                              {"cols", columns.*place.side},
                                              {"kind", as_int64(kind)},
                                              {"src_dtype", dtype},
                                              {"dst_dtype", dtype}});
  };
  add_routed({.name = std::move(name),
              .split = Split::column,
              .whole = make(whole_rows()).problem,
              .shape_in = shape({rows_.whole, 2 * columns.whole}),
              .shape_out = shape({rows_.whole, columns.whole})},
             group_rows(), make);
}

void GraphBuilder::expert_activation(std::string name, Extent columns, ActivationKind kind) {
  const std::int64_t dtype = number(precision().activation);
  const auto make = [&](const RowPlace& place) {
    return sized_problem("activation", {{"rows", place.rows},
                                        {"cols", columns.*place.side},
                                        {"kind", as_int64(kind)},
                                        {"src_dtype", dtype},
                                        {"dst_dtype", dtype}});
  };
  add_routed({.name = std::move(name),
              .split = Split::column,
              .whole = make(whole_rows()).problem,
              .shape_in = shape({rows_.whole, columns.whole})},
             group_rows(), make);
}

}  // namespace halmark
