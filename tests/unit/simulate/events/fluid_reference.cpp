#include "fluid_reference.hpp"
#include "core/numeric/cast.hpp"

#include <algorithm>
#include <limits>

namespace halmark::events::test {
namespace {

using Real = long double;
enum class Phase { waits, queues, works, sends, ended };

class Reference {
 public:
  explicit Reference(const TaskGraph& graph)
      : graph_(graph),
        phase_(graph.size(), Phase::waits),
        left_(graph.size(), 0),
        rate_(graph.size(), 0),
        ready_(graph.size(), 0),
        out_{std::vector<double>(graph.size(), 0), std::vector<double>(graph.size(), 0)} {}

  ReferenceTimes run() {
    while (begin_all()) {
      find_rates();
      const Real step = next_step();
      now_ += step;
      advance(step);
    }
    return out_;
  }

 private:
  Place place(std::size_t i) const { return graph_.place(static_cast<TaskIndex>(i)); }
  Real duration(std::size_t i) const {
    return seconds_of(graph_.duration_ps(static_cast<TaskIndex>(i)));
  }
  std::span<const Hop> path(std::size_t i) const {
    return graph_.path(static_cast<PathIndex>(place(i).index()));
  }

  bool is_free(std::size_t i) const {
    return std::ranges::all_of(graph_.waits(), [&](const TaskGraph::Wait& wait) {
      return at(wait.task) != i || phase_[at(wait.before)] == Phase::ended;
    });
  }

  // Whether anything goes on.
  bool begin_all() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (phase_[i] != Phase::waits || !is_free(i)) continue;
      ready_[i] = now_;
      const bool sends =
          place(i).kind() == Place::Kind::path && graph_.bytes(static_cast<TaskIndex>(i)) > 0;
      if (place(i).kind() == Place::Kind::stream) {
        phase_[i] = Phase::queues;
      } else {
        work(i, sends ? Phase::sends : Phase::works,
             sends ? Real{graph_.bytes(static_cast<TaskIndex>(i))} : duration(i));
      }
    }
    for (std::uint32_t stream = 0; stream < graph_.streams(); ++stream) serve(stream);
    return std::ranges::any_of(phase_,
                               [](Phase p) { return p == Phase::works || p == Phase::sends; });
  }

  void work(std::size_t i, Phase phase, Real left) {
    phase_[i] = phase;
    left_[i] = left;
    out_.start_s[i] = as_double(now_);
  }

  void serve(std::uint32_t stream) {
    std::size_t first = graph_.size();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (place(i).kind() != Place::Kind::stream || place(i).index() != stream) continue;
      if (phase_[i] == Phase::works) return;
      if (phase_[i] != Phase::queues) continue;
      if (first == graph_.size() || ready_[i] < ready_[first]) first = i;
    }
    if (first < graph_.size()) work(first, Phase::works, duration(first));
  }

  // Raises all rates together until a link is full, freezes what passes it, and so on.
  void find_rates() {
    std::vector<Real> left(graph_.links());
    for (std::size_t l = 0; l < left.size(); ++l) {
      left[l] = graph_.bytes_per_s(static_cast<LinkIndex>(l));
    }
    std::vector<char> is_frozen(graph_.size(), 0);
    for (;;) {
      std::vector<Real> weights(left.size(), 0);
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (phase_[i] != Phase::sends || is_frozen[i]) continue;
        for (const Hop& hop : path(i)) weights[at(hop.link)] += hop.weight;
      }
      std::size_t tight = left.size();
      for (std::size_t l = 0; l < left.size(); ++l) {
        if (weights[l] < 1e-9L) continue;
        if (tight == left.size() || left[l] / weights[l] < left[tight] / weights[tight]) tight = l;
      }
      if (tight == left.size()) return;
      const Real rate = left[tight] / weights[tight];
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (phase_[i] != Phase::sends || is_frozen[i]) continue;
        const auto hops = path(i);
        if (std::ranges::none_of(hops, [&](const Hop& h) { return at(h.link) == tight; })) continue;
        is_frozen[i] = 1;
        rate_[i] = rate;
        for (const Hop& hop : hops) left[at(hop.link)] -= rate * hop.weight;
      }
    }
  }

  Real next_step() const {
    Real step = std::numeric_limits<Real>::max();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (phase_[i] == Phase::works) step = std::min(step, left_[i]);
      if (phase_[i] == Phase::sends) step = std::min(step, left_[i] / rate_[i]);
    }
    return step;
  }

  void advance(Real step) {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (phase_[i] != Phase::works && phase_[i] != Phase::sends) continue;
      const bool sends = phase_[i] == Phase::sends;
      left_[i] -= step * (sends ? rate_[i] : 1);
      const Real rest = left_[i] / (sends ? rate_[i] : 1);
      if (rest > 1e-15L) continue;
      if (sends && duration(i) > 0) {
        phase_[i] = Phase::works;
        left_[i] = duration(i);
        continue;
      }
      phase_[i] = Phase::ended;
      out_.end_s[i] = as_double(now_);
    }
  }

  const TaskGraph& graph_;
  std::vector<Phase> phase_;
  std::vector<Real> left_, rate_, ready_;
  ReferenceTimes out_;
  Real now_ = 0;
};

}  // namespace

ReferenceTimes reference_times(const TaskGraph& graph) { return Reference(graph).run(); }

}  // namespace halmark::events::test
