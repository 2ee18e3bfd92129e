// LatencyChain: all sources of times behind one, asked in one order of trust.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/latency.hpp"
#include "latency/judged.hpp"
#include "latency/placed_source.hpp"
#include "latency/source_choice.hpp"

namespace halmark {

// A collective is asked for like any kernel. One thread.
class LatencyChain final : public LatencySource {
 public:
  // Sources are asked by kind, those of one kind as they were added.
  void add(SourceKind kind, std::unique_ptr<LatencySource> source);
  void add(SourceKind kind, LatencySource& source);  // which must outlive the chain

  // Each source is required only for what no more trusted one knows.
  void require(std::span<const KernelCase> cases) override;
  // The first usable figure. A quarantined one is counted and the next source asked, whose answer
  // says so; it is the answer itself only where none has another.
  std::optional<Latency> latency(const KernelCase& kernel_case) const override;
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override;
  // The same of a collective whose ranks are `stride` devices apart; sources other than a
  // PlacedSource know of no places.
  std::optional<Latency> latency(const KernelCase& kernel_case, std::int64_t stride) const;
  std::optional<Latency> latency(const Problem& problem, const Work& work,
                                 std::int64_t stride) const;

  bool has(SourceKind kind) const;
  bool has_only(SourceKind kind) const;
  bool has_interval() const;                          // some source states ends that differ
  const AskedTimes& asked() const { return asked_; }  // so far

 private:
  struct Link {
    SourceKind kind;
    LatencySource* source;
    const PlacedSource* placed;  // the same where it is one, else null
  };
  template <class Ask>
  std::optional<Latency> first(const Problem& problem, const Ask& ask) const;

  std::vector<Link> links_;  // most trusted first
  std::vector<std::unique_ptr<LatencySource>> owned_;
  mutable AskedTimes asked_;
};

}  // namespace halmark
