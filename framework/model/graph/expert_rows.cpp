// Which rows GraphBuilder gives to which rank of the routed experts. The routing is part of the
// problem: see kernels/routing.hpp. Which rank has most rows, and how many, is a function of the
// tokens, so the sizes of its problem are stated as that and not as the rows of one rank.
#include <algorithm>
#include <array>
#include <cassert>

#include "core/lists.hpp"
#include "kernels/routing.hpp"
#include "model/graph/builder.hpp"
#include "model/graph/expert_imbalance.hpp"

namespace halmark {
namespace {

std::vector<std::int64_t> rows_of_ranks(const std::vector<std::int64_t>& counts, int ranks) {
  std::vector<std::int64_t> out;
  for (const int rank : below(ranks)) {
    out.push_back(rows_of(counts, local_experts(std::ssize(counts), ranks, rank)));
  }
  return out;
}

using Values = std::span<const std::int64_t>;

// Of a routing that is stated by tokens, top_k, experts, skew and ranks, in this order.
std::vector<std::int64_t> counts_of(Values v) { return routing_counts(v[0], v[1], v[2], v[3]); }

std::int64_t most_rows(Values v) {
  return std::ranges::max(rows_of_ranks(counts_of(v), static_cast<int>(v[4])));
}

std::int64_t rank_of_most_rows(Values v) { return heaviest_rank(counts_of(v), v[4]); }

// The most that a replica sends to one rank; after the ranks come the replicas that exchange. Both
// views of the same rows, each rounded to whole ones: the exchange has room for either.
std::int64_t most_pair_rows(Values v) {
  std::vector<std::int64_t> of_group(v.begin(), v.end());
  const std::int64_t across = v[5];
  of_group[0] *= across;
  return std::max(most_rows(v), (most_rows(of_group) + across - 1) / across);
}

}  // namespace

Extent GraphBuilder::split_expert_width(std::int64_t width) const {
  assert(width % layout_.width == 0 && "check_deployment refuses splits that do not divide");
  return {width, width / layout_.width};
}

std::int64_t GraphBuilder::routed_width() const {
  const ModelSpec& spec = graph_.spec;
  return spec.moe->latent > 0 ? spec.moe->latent : spec.hidden;
}

void GraphBuilder::plan_routing(const ExpertSpec& experts) {
  const std::int64_t skew = graph_.configuration.workload.routing_skew;
  const auto counts = [&](std::int64_t tokens) {
    return routing_counts(tokens, experts.top_k, experts.experts, skew);
  };
  const std::int64_t whole_tokens = tokens_.whole.constant();
  const std::int64_t tokens = tokens_.local.value() * layout_.across_replicas;
  const auto of_group = counts(tokens);
  rows_.whole = whole_tokens * experts.top_k;
  rows_.of_rank = rows_of_ranks(of_group, layout_.ep);
  rows_.dispatched = rows_of_ranks(counts(tokens_.local.value()), layout_.in_tensor);
  const std::array<Size, 6> routing = {tokens_.local, experts.top_k, experts.experts,
                                       skew,          layout_.ep,    layout_.across_replicas};
  rows_.of_pair_max = Size("most_pair_rows", most_pair_rows, routing);

  const std::int64_t heaviest = heaviest_rank(of_group, layout_.ep);
  const auto whole = counts(whole_tokens);
  graph_.expert_use = ExpertUse{.active = active_experts(whole, {0, experts.experts}),
                                .held_per_rank = experts.experts / layout_.ep,
                                .active_per_rank = active_experts(
                                    of_group, local_experts(experts.experts, layout_.ep, heaviest)),
                                .imbalance = as_double(rows_.of_rank[as_size(heaviest)]) *
                                             layout_.ep / as_double(tokens * experts.top_k)};
  if (skew != 0) {
    graph_.expert_use->rank_imbalance = graph_.expert_use->imbalance;
    return;
  }
  graph_.expert_use->rank_imbalance = routed_share().imbalance(tokens_.local.value());
  rows_.whole_weights = expected_distinct_experts(experts.experts, experts.top_k, whole_tokens) /
                        as_double(graph_.expert_use->active);
}

RoutedShare GraphBuilder::routed_share() const {
  return {.experts = graph_.spec.moe->experts,
          .top_k = graph_.spec.moe->top_k,
          .ep = layout_.ep,
          .across = layout_.across_replicas,
          .imbalance_ppm = graph_.configuration.workload.expert_imbalance_ppm};
}

GraphBuilder::RowPlace GraphBuilder::whole_rows() const {
  return {.tokens = tokens_.whole, .rows = rows_.whole};
}

GraphBuilder::RowPlace GraphBuilder::heaviest_place(const Size& tokens, int ranks) const {
  const ExpertSpec& experts = *graph_.spec.moe;
  RowPlace out{.tokens = tokens, .ep_size = ranks, .side = &Extent::local};
  if (ranks == 1) {
    out.rows = tokens * experts.top_k;
    return out;
  }
  const std::array<Size, 5> routing = {tokens, experts.top_k, experts.experts,
                                       graph_.configuration.workload.routing_skew, ranks};
  out.rows = Size("most_rows", most_rows, routing);
  out.ep_rank = Size("rank_of_most_rows", rank_of_most_rows, routing);
  return out;
}

GraphBuilder::RowPlaces GraphBuilder::group_rows() const {
  RowPlaces out{heaviest_place(tokens_.local * layout_.across_replicas, layout_.ep), {}};
  for (const int rank : below(layout_.ep)) {
    RowPlace& place = out.of_ranks.emplace_back(out.heaviest);
    place.ep_rank = rank;
    place.rows = rows_.of_rank[as_size(rank)];
  }
  return out;
}

GraphBuilder::RowPlaces GraphBuilder::tensor_rows() const {
  RowPlaces out{heaviest_place(tokens_.local, layout_.in_tensor), {}, false};
  for (const int rank : below(layout_.ep)) {
    RowPlace& place = out.of_ranks.emplace_back(out.heaviest);
    const int share = rank / layout_.across_replicas;
    place.ep_rank = share;
    place.rows = rows_.dispatched[as_size(share)];
  }
  return out;
}

Sizing GraphBuilder::routed_params(const RowPlace& place) const {
  const ExpertSpec& experts = *graph_.spec.moe;
  return {{"tokens", place.tokens},     {"top_k", experts.top_k},
          {"experts", experts.experts}, {"skew", graph_.configuration.workload.routing_skew},
          {"ep_size", place.ep_size},   {"ep_rank", place.ep_rank}};
}

}  // namespace halmark
