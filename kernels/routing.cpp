#include "kernels/routing.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t order_seed = 0x6578706572747321ULL;
// The table of a problem has this many entries at most: 512 MiB while it is made. Counting needs no
// table, so a model's step may be larger than any kernel that is executed.
constexpr std::int64_t assignments_max = std::int64_t{1} << 26;

std::size_t at(std::int64_t i) { return as_size(i); }

// Experts from the heaviest to the lightest. Pseudo-random, so that heavy ones are not all on
// rank 0.
std::vector<std::int64_t> expert_order(std::int64_t experts) {
  std::vector<std::int64_t> order(at(experts));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::sort(order, {},
                    [](std::int64_t expert) { return hash_u64(order_seed, as_uint64(expert)); });
  return order;
}

// (position + 1)^-exponent in units of 2^-30. Integers from here on: shares computed in floating
// point could fall to another expert on another machine.
std::vector<std::uint64_t> power_law(std::int64_t experts, std::int64_t skew_percent) {
  std::vector<std::uint64_t> weights(at(experts));
  const double exponent = as_double(skew_percent) / 100;
  for (const auto i : indices(weights)) {
    const double share = std::pow(as_double(i + 1), -exponent);
    weights[i] = std::max<std::uint64_t>(1, as_uint64(std::lround(share * 0x1p30)));
  }
  return weights;
}

// Shares of `total` in the ratio of the descending `weights`, none above `limit`, by largest
// remainder; equal remainders go to the earlier one. limit * weights.size() >= total.
std::vector<std::int64_t> apportion(std::int64_t total, std::int64_t limit,
                                    std::span<const std::uint64_t> weights) {
  std::vector<std::int64_t> shares(weights.size(), 0);
  if (weights.front() == weights.back()) {  // the same by division: equal shares, equal remainders
    const auto count = std::ssize(weights);
    std::ranges::fill(shares, total / count);
    for (const std::int64_t i : below(total % count)) ++shares[at(i)];
    return shares;
  }
  Wide left = static_cast<Wide>(total);
  Wide sum = std::accumulate(weights.begin(), weights.end(), Wide{0});
  std::size_t first = 0;  // shares before it are at the limit
  while (first < weights.size() && left * weights[first] > static_cast<Wide>(limit) * sum) {
    shares[first] = limit;
    left -= static_cast<Wide>(limit);
    sum -= weights[first++];
  }
  std::vector<Wide> remainders(weights.size(), 0);
  std::vector<std::size_t> candidates;
  Wide missing = left;
  for (std::size_t i = first; i < weights.size(); ++i) {
    const Wide share = left * weights[i] / sum;
    remainders[i] = left * weights[i] % sum;
    shares[i] = as_int64(share);
    missing -= share;
    candidates.push_back(i);
  }
  // Fewer are missing than there are remainders, and who has one is below the limit.
  const auto raised = std::span(candidates).first(as_size(missing));
  std::ranges::nth_element(
      candidates, candidates.begin() + std::ssize(raised), [&](std::size_t a, std::size_t b) {
        return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
      });
  for (const std::size_t i : raised) ++shares[i];
  return shares;
}

std::string named(std::string_view name, std::int64_t value) {
  return std::string(name) + "=" + std::to_string(value);
}

}  // namespace

namespace {

std::vector<std::int64_t> made_counts(std::int64_t tokens, std::int64_t top_k, std::int64_t experts,
                                      std::int64_t skew_percent) {
  struct Law {
    std::int64_t experts = -1, skew_percent = -1;
    std::vector<std::int64_t> order;
    std::vector<std::uint64_t> weights;
  };
  static thread_local Law law;  // that of one model, whatever its batch
  if (law.experts != experts || law.skew_percent != skew_percent) {
    law = {experts, skew_percent, expert_order(experts), power_law(experts, skew_percent)};
  }
  const std::vector<std::int64_t>& order = law.order;
  const auto shares = apportion(tokens * top_k, tokens, law.weights);
  std::vector<std::int64_t> counts(at(experts));
  for (const auto i : indices(shares)) counts[at(order[i])] = shares[i];
  return counts;
}

}  // namespace

// One graph asks for the same few routings dozens of times: the last ones are kept per thread.
std::vector<std::int64_t> routing_counts(std::int64_t tokens, std::int64_t top_k,
                                         std::int64_t experts, std::int64_t skew_percent) {
  struct Kept {
    std::array<std::int64_t, 4> key{-1, -1, -1, -1};
    std::vector<std::int64_t> counts;
  };
  static thread_local std::array<Kept, 64> kept;
  const std::array<std::int64_t, 4> key = {tokens, top_k, experts, skew_percent};
  Kept& place =
      kept[hash_u64(as_uint64(tokens * 1000 + skew_percent), as_uint64(experts * 1000 + top_k)) %
           kept.size()];
  if (place.key != key) place = {key, made_counts(tokens, top_k, experts, skew_percent)};
  return place.counts;
}

// The experts' rows one after the other, dealt to the tokens in turn: an expert has at most as many
// rows as there are tokens, so no token gets it twice.
std::vector<std::int64_t> routing_table(std::int64_t tokens, std::int64_t top_k,
                                        std::int64_t experts, std::int64_t skew_percent) {
  const auto counts = routing_counts(tokens, top_k, experts, skew_percent);
  std::vector<std::int64_t> table(at(tokens * top_k));
  std::int64_t dealt = 0;
  for (const std::int64_t expert : below(experts)) {
    for (std::int64_t row = 0; row < counts[at(expert)]; ++row, ++dealt) {
      table[at(dealt % tokens * top_k + dealt / tokens)] = expert;
    }
  }
  return table;
}

ExpertRange local_experts(std::int64_t experts, std::int64_t ep_size, std::int64_t ep_rank) {
  const auto each = experts / ep_size;
  return {.begin = ep_rank * each, .end = (ep_rank + 1) * each};
}

std::int64_t rows_of(std::span<const std::int64_t> counts, ExpertRange range) {
  const auto local = counts.subspan(at(range.begin), at(range.size()));
  return std::accumulate(local.begin(), local.end(), std::int64_t{0});
}

std::int64_t active_experts(std::span<const std::int64_t> counts, ExpertRange range) {
  const auto local = counts.subspan(at(range.begin), at(range.size()));
  return std::ranges::count_if(local, [](std::int64_t rows) { return rows > 0; });
}

std::int64_t heaviest_rank(std::span<const std::int64_t> counts, std::int64_t ep_size) {
  std::int64_t heaviest = 0, rows_max = -1;
  for (const std::int64_t rank : below(ep_size)) {
    const auto rows = rows_of(counts, local_experts(std::ssize(counts), ep_size, rank));
    if (rows > rows_max) heaviest = rank;
    rows_max = std::max(rows, rows_max);
  }
  return heaviest;
}

Routing::Routing(const Params& p)
    : tokens(p.at("tokens")),
      top_k(p.at("top_k")),
      experts(p.at("experts")),
      skew_percent(p.at("skew")),
      ep_size(p.at("ep_size")),
      ep_rank(p.at("ep_rank")) {}

std::optional<std::string> Routing::fault() const {
  if (top_k > experts) {
    return "a token picks each expert at most once; got " + named("top_k", top_k) + " of " +
           named("experts", experts);
  }
  if (experts % ep_size != 0) {
    return "ep_size must divide experts; got " + named("ep_size", ep_size) + " and " +
           named("experts", experts);
  }
  if (ep_rank >= ep_size) {
    return "ep_rank counts from 0 to ep_size - 1; got " + named("ep_rank", ep_rank) + " and " +
           named("ep_size", ep_size);
  }
  if (rows() == 0) {
    return "no token is routed to an expert of " + named("ep_rank", ep_rank) + " of " +
           named("ep_size", ep_size) + ", so there is nothing to run; rank " +
           std::to_string(heaviest_rank(counts(), ep_size)) + " has the most rows";
  }
  return std::nullopt;
}

std::vector<std::int64_t> Routing::counts() const {
  return routing_counts(tokens, top_k, experts, skew_percent);
}

std::vector<std::int64_t> Routing::local_counts() const {
  const auto all = counts();
  return {all.begin() + local().begin, all.begin() + local().end};
}

std::vector<std::int64_t> Routing::table() const {
  if (tokens > assignments_max / top_k) {
    throw refused("tokens * top_k must be at most " + std::to_string(assignments_max) +
                  " where a kernel is executed; got " + named("tokens", tokens) + " and " +
                  named("top_k", top_k));
  }
  return routing_table(tokens, top_k, experts, skew_percent);
}

std::int64_t Routing::rows() const { return rows_of(counts(), local()); }

std::vector<std::int64_t> local_positions(std::span<const std::int64_t> table, ExpertRange range) {
  std::vector<std::int64_t> positions;
  for (const auto i : indices(table)) {
    if (range.contains(table[i])) positions.push_back(as_int64(i));
  }
  std::ranges::stable_sort(positions, {}, [&](std::int64_t i) { return table[at(i)]; });
  return positions;
}

}  // namespace halmark
