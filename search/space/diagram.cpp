#include "search/space/diagram.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark {

std::size_t Diagram::KeyHash::operator()(const std::vector<std::int32_t>& key) const {
  std::uint64_t out = key.size();
  for (const std::int32_t x : key) out = hash_combine(out, as_uint32(x));
  return out;
}

Diagram::Diagram(const SpaceRules& rules)
    : rules_(rules), prefix_(rules.domains().size(), absent), operands_(rules.unbound()) {
  const auto& numbered = rules.numbered();
  const std::size_t depths = numbered.size();
  touching_.resize(depths);
  when_users_.resize(depths);
  memo_.resize(depths);
  last_of_.assign(rules.rules().size(), 0);
  for (const auto r : indices(rules.rules())) {
    const auto& domains = rules.rules()[r].domains;
    bool is_touched = false;
    for (const auto i : indices(depths)) {
      if (!std::ranges::binary_search(domains, numbered[i])) continue;
      last_of_[r] = i;
      if (rules.rules()[r].expression) touching_[i].push_back(r);
      is_touched = true;
    }
    // A rule over nothing at all holds or breaks everything.
    if (depths > 0 && (!rules.rules()[r].expression || (!is_touched && domains.empty()))) {
      touching_[last_of_[r]].push_back(r);
    }
  }
  for (const auto i : indices(depths)) {
    for (std::size_t j = i + 1; j < depths; ++j) {
      const auto& when = rules.when(numbered[j]);
      if (when && std::ranges::binary_search(when->parameters(), numbered[i])) {
        when_users_[i].push_back(j);
      }
    }
  }
  nodes_.push_back({.count = 1});  // the end of every valid prefix
  depth_of_.push_back(as_uint32(depths));
  root_ = build(0);
  count_discarded();
  memo_.clear();
  alike_.clear();
}

// What the rest of the rules can still see of the prefix: the levels of bound domains that an
// undecided rule or a later condition reads, -1 for the others.
std::vector<std::int32_t> Diagram::live_key(std::size_t depth) const {
  const auto& numbered = rules_.numbered();
  std::vector<std::int32_t> key(depth, -1);
  const auto show = [&](std::size_t i) {
    const double x = prefix_[numbered[i]];
    key[i] = x == absent ? -2 : as_int(x);
  };
  for (const auto r : indices(rules_.rules())) {
    const Rule& rule = rules_.rules()[r];
    if (last_of_[r] < depth || rule.domains.empty()) continue;
    if (rule.expression && rule.expression->evaluate(operands_) == Truth::yes) continue;
    for (const auto i : indices(depth)) {
      if (key[i] == -1 && std::ranges::binary_search(rule.domains, numbered[i])) show(i);
    }
  }
  for (const auto i : indices(depth)) {
    if (key[i] == -1 && !when_users_[i].empty() && when_users_[i].back() >= depth) show(i);
  }
  return key;
}

std::uint32_t Diagram::build(std::size_t depth) {
  const auto& numbered = rules_.numbered();
  if (depth == numbered.size()) return 0;
  std::vector<std::int32_t> key = live_key(depth);
  if (const auto it = memo_[depth].find(key); it != memo_[depth].end()) return it->second;
  const std::size_t d = numbered[depth];
  const bool is_active = rules_.is_active(d, operands_);
  std::vector<std::int32_t> to;
  const Operand unbound = operands_[d];
  if (is_active) {
    for (std::size_t level = 0; level < rules_.levels(d); ++level) {
      prefix_[d] = as_double(level);
      operands_[d] = rules_.operand(d, as_double(level));
      to.push_back(onward(depth));
    }
  } else {
    operands_[d] = Operand{};
    to.push_back(onward(depth));
  }
  prefix_[d] = absent;
  operands_[d] = unbound;
  const std::uint32_t out = node_of(depth, is_active, to);
  memo_[depth].emplace(std::move(key), out);
  return out;
}

// An inactive parameter is bound too: a rule whose last one it is has to be judged here.
std::int32_t Diagram::onward(std::size_t depth) {
  for (const std::size_t r : touching_[depth]) {
    if (rules_.judge(r, prefix_, operands_, last_of_[r] == depth) == Truth::no) {
      return -as_int(r) - 1;
    }
  }
  return as_int(build(depth + 1));
}

std::uint32_t Diagram::node_of(std::size_t depth, bool is_active,
                               const std::vector<std::int32_t>& to) {
  std::uint64_t hash = hash_combine(depth, is_active);
  for (const std::int32_t t : to) hash = hash_combine(hash, as_uint32(t));
  const auto [begin, end] = alike_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Node& n = nodes_[it->second];
    if (depth_of_[it->second] != depth || n.is_active != is_active || n.edges != to.size())
      continue;
    const Edge* edges = &edges_[n.first_edge];
    bool is_same = true;
    for (std::size_t i = 0; i < to.size() && is_same; ++i) is_same = edges[i].to == to[i];
    if (is_same) return it->second;
  }
  if (edges_.size() + to.size() > edges_max) {
    throw refused("the constraints split the space into too many cases to count", {},
                  "shorten a domain, or let constraints name fewer parameters");
  }
  Node node{.count = 0,
            .first_edge = as_uint32(edges_.size()),
            .edges = as_uint32(to.size()),
            .is_active = is_active};
  for (const std::int32_t t : to) {
    edges_.push_back({.to = t, .before = node.count});
    if (t >= 0) node.count += nodes_[as_size(t)].count;
  }
  const auto id = as_uint32(nodes_.size());
  nodes_.push_back(node);
  depth_of_.push_back(as_uint32(depth));
  alike_.emplace(hash, id);
  return id;
}

void Diagram::count_discarded() {
  const auto& numbered = rules_.numbered();
  std::vector<std::uint64_t> below(numbered.size() + 1, 1);
  for (std::size_t i = numbered.size(); i-- > 0;) {
    below[i] = below[i + 1] * rules_.levels(numbered[i]);
  }
  // Children are made before their parents, so ids fall along every way down.
  std::vector<std::uint64_t> ways(nodes_.size(), 0);
  ways[root_] = 1;
  for (std::size_t id = nodes_.size(); id-- > 1;) {
    const Node& n = nodes_[id];
    if (ways[id] == 0) continue;
    for (const auto e : indices(n.edges)) {
      const std::int32_t to = edges_[n.first_edge + e].to;
      if (to >= 0) {
        ways[as_size(to)] += ways[id];
      } else {
        discarded_[rules_.rules()[as_size(-to - 1)].name] += ways[id] * below[depth_of_[id] + 1];
      }
    }
  }
}

void Diagram::write(std::uint64_t index, Point& point) const {
  std::uint32_t at = root_;
  for (const std::size_t d : rules_.numbered()) {
    const Node& n = nodes_[at];
    const Edge* begin = &edges_[n.first_edge];
    // The last edge that begins at or before the index: of those that begin together only the last
    // is not empty.
    const Edge* edge =
        std::prev(std::upper_bound(begin, begin + n.edges, index,
                                   [](std::uint64_t i, const Edge& e) { return i < e.before; }));
    index -= edge->before;
    point[d] = n.is_active ? as_double(edge - begin) : absent;
    at = as_uint32(edge->to);
  }
}

bool Diagram::write_from_unit(std::span<const double> u, Point& point) const {
  if (count() == 0) return false;
  std::uint32_t at = root_;
  for (const std::size_t d : rules_.numbered()) {
    const Node& n = nodes_[at];
    const Edge* begin = &edges_[n.first_edge];
    const auto index = std::min(n.count - 1, as_uint64(u[d] * as_double(n.count)));
    const Edge* edge =
        std::prev(std::upper_bound(begin, begin + n.edges, index,
                                   [](std::uint64_t i, const Edge& e) { return i < e.before; }));
    point[d] = n.is_active ? as_double(edge - begin) : absent;
    at = as_uint32(edge->to);
  }
  return true;
}

std::optional<std::uint64_t> Diagram::find(const Point& point) const {
  std::uint32_t at = root_;
  std::uint64_t index = 0;
  for (const std::size_t d : rules_.numbered()) {
    const Node& n = nodes_[at];
    if (n.is_active != (point[d] != absent)) return std::nullopt;
    std::size_t e = 0;
    if (n.is_active) {
      if (!rules_.is_inside(d, point[d])) return std::nullopt;
      e = as_size(point[d]);
    }
    const Edge& edge = edges_[n.first_edge + e];
    if (edge.to < 0) return std::nullopt;
    index += edge.before;
    at = as_uint32(edge.to);
  }
  if (nodes_[at].count == 0) return std::nullopt;
  return index;
}

}  // namespace halmark
