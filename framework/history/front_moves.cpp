#include "history/front_moves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace halmark::history {
namespace {

constexpr double own_change_min = 0.01;
constexpr double probability_moved = 0.5;

using ByKey = std::map<std::string, const Evaluation*>;

ByKey by_key(const FrontSide& side) {
  ByKey out;
  for (const Evaluation& e : side.evaluations) {
    if (e.estimate) out[e.configuration.key()] = &e;  // the last one of a run counts
  }
  return out;
}

std::set<std::string> front_keys(const FrontSide& side) {
  std::set<std::string> out;
  for (const std::size_t i : side.front) out.insert(side.evaluations[i].configuration.key());
  return out;
}

// Layers of several types have kernels of one name.
std::map<std::string, double> ns_by_kernel(const Evaluation& e) {
  std::map<std::string, double> out;
  for (const OperatorShare& share : e.estimate->operators) out[share.name] += share.ns;
  return out;
}

class Moves {
 public:
  Moves(const FrontSide& before, const FrontSide& after)
      : before_(by_key(before)),
        after_(by_key(after)),
        old_front_(front_keys(before)),
        new_front_(front_keys(after)) {}

  std::vector<FrontMove> all() const {
    std::vector<FrontMove> out;
    for (const std::string& key : new_front_) {
      if (!old_front_.contains(key)) out.push_back(move_of(key, true));
    }
    for (const std::string& key : old_front_) {
      if (!new_front_.contains(key)) out.push_back(move_of(key, false));
    }
    return out;
  }

 private:
  static const Evaluation* find(const ByKey& side, const std::string& key) {
    const auto it = side.find(key);
    return it == side.end() ? nullptr : it->second;
  }

  FrontMove move_of(const std::string& key, bool has_entered) const {
    const Evaluation *a = find(before_, key), *b = find(after_, key);
    FrontMove out{.configuration = key, .has_entered = has_entered};
    if (a != nullptr) out.before_ns = a->estimate->step_ns;
    if (b != nullptr) out.after_ns = b->estimate->step_ns;
    if (a != nullptr && b != nullptr && a->standing && b->standing) {
      out.is_certain =
          std::abs(a->standing->probability - b->standing->probability) >= probability_moved;
    }
    name_kernel(out);
    return out;
  }

  // How far a configuration moved, as a logarithm; 0 where a side has none.
  double change_of(const std::string& key) const {
    const Evaluation *a = find(before_, key), *b = find(after_, key);
    if (a == nullptr || b == nullptr) return 0;
    return std::log(b->estimate->step_ns / a->estimate->step_ns);
  }

  void name_kernel(FrontMove& move) const {
    move.moved_by = move.configuration;
    double most = std::abs(change_of(move.configuration));
    if (most < std::log1p(own_change_min)) {
      for (const auto* front : {&old_front_, &new_front_}) {
        for (const std::string& key : *front) {
          if (std::abs(change_of(key)) <= most) continue;
          most = std::abs(change_of(key));
          move.moved_by = key;
        }
      }
    }
    const Evaluation *a = find(before_, move.moved_by), *b = find(after_, move.moved_by);
    if (a == nullptr || b == nullptr) return;
    std::map<std::string, double> old_ns = ns_by_kernel(*a);
    for (const auto& [kernel, ns] : ns_by_kernel(*b)) {
      const double was = old_ns[kernel];
      if (std::abs(ns - was) <= std::abs(move.kernel_after_ns - move.kernel_before_ns)) continue;
      move.kernel = kernel;
      move.kernel_before_ns = was;
      move.kernel_after_ns = ns;
    }
  }

  ByKey before_, after_;
  std::set<std::string> old_front_, new_front_;
};

}  // namespace

std::vector<FrontMove> front_moves(const FrontSide& before, const FrontSide& after) {
  if (before.evaluations.empty() || after.evaluations.empty()) return {};
  return Moves(before, after).all();
}

}  // namespace halmark::history
