// The certifier: measures as few kernels as prove that nothing beats the front. Best bound first:
// a configuration is looked at only when no evaluated one can be shown to be at least as good, and
// then one of its kernels has to be measured in any proof. It sees configurations, kernels and
// numbers, never a device.
//
// Prior art: branch and bound with bound sets and local upper bounds (Ehrgott, Gandibleux 2001;
// Przybylski, Gandibleux 2017); an analytic bound that never drops the best: Telamon (CC 2017).
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "search/certify/certify_problem.hpp"
#include "search/certify/upper_archive.hpp"

namespace halmark {

enum class KernelStatus { unmeasured, measured, failed };

// What is known of a kernel's time. Unmeasured: [bound, infinity).
struct KernelKnowledge {
  KernelStatus status = KernelStatus::unmeasured;
  double bound = 0, low = 0, high = 0;
  std::string reason;  // why it failed
};

// A measurement below its bound: the bound was wrong, so its peak is raised until it holds.
struct BoundAlarm {
  std::int32_t kernel = 0, peak = 0;
  double low = 0, bound = 0;  // what was measured, what should have been impossible
  double peak_before = 0, peak_after = 0;
};

struct CertifyOptions {
  double eps = 0;  // bounds that an evaluated configuration meets up to this factor stay open
  std::uint64_t seed = 1;  // order among equal bounds
};

// How far the worst undecided configuration may be better than the front.
struct ProvedGap {
  double eps = 0;                   // infinity before anything was evaluated
  std::uint64_t configuration = 0;  // whose bound it is
  std::int32_t kernel = -1;         // whose bound is responsible; -1 = nothing is undecided
};

class Certifier {
 public:
  // Throws Error (exit 2) for what Configurations refuses.
  Certifier(CertifiableProblem problem, CertifyOptions options);
  Certifier(const Certifier&) = delete;
  Certifier& operator=(const Certifier&) = delete;

  // At most `count` kernels to measure next, each once; none when everything is decided up to eps.
  // More than one supposes that the earlier ones take their expected times.
  std::vector<std::int32_t> ask(std::size_t count);
  // Measured: 0 < low <= high. Each kernel is told once, asked for or not; throws Error (exit 1)
  // otherwise. An alarm raises the peak and replays what was decided by it.
  void tell(std::int32_t kernel, double low, double high);
  // No usable time: its configurations are out of the comparison. `low` > 0 is what was measured
  // and not believed; below the bound it is an alarm all the same.
  void tell_failed(std::int32_t kernel, const std::string& reason, double low = 0);

  ProvedGap gap() const;
  std::size_t kernels_measured() const { return kernels_measured_; }

  const CertifyOptions& options() const { return options_; }
  const CertifiableProblem& problem() const { return problem_; }  // peaks as raised
  const Configurations& configurations() const { return configurations_; }
  std::span<const KernelKnowledge> kernels() const { return kernels_; }
  std::span<const BoundAlarm> alarms() const { return alarms_; }

 private:
  enum class Verdict : std::uint8_t { invalid, undecided, discarded, evaluated, failed };
  struct Candidate {
    bool waits;  // its front has something evaluated; those that have nothing come first
    double key;
    std::uint64_t tie, configuration;
    std::uint32_t version;
    // The queue gives the largest first.
    bool operator<(const Candidate& other) const {
      if (waits != other.waits) return waits;
      if (key != other.key) return key > other.key;
      return tie != other.tie ? tie > other.tie : configuration > other.configuration;
    }
  };

  void choose_weights();
  void decide_again();
  void update(std::uint64_t configuration);
  void push(std::uint64_t configuration);
  bool has_evaluated(std::uint64_t configuration) const;  // its front
  // Excess: how far an evaluated configuration lay above its bound. What its levels had so far is
  // what another one with these levels is expected to have.
  void learn(std::uint64_t configuration, double excess);
  double expected_excess(std::uint64_t configuration) const;
  std::uint64_t best_of_equals(const Candidate& top);
  bool pop_best(std::uint64_t& configuration);
  void take_from(std::uint64_t configuration, std::size_t count, std::vector<std::int32_t>& chosen);
  double promise(std::int32_t kernel);
  double key(std::uint64_t configuration, std::span<const double> objectives) const;
  double optimistic_key(std::uint64_t configuration);
  bool is_covered(std::uint64_t configuration, std::span<const double> bound) const;
  void check_told(std::int32_t kernel) const;
  bool raise_peaks(std::int32_t kernel, double low);
  std::span<double> lower(std::uint64_t configuration);
  std::span<const double> lower(std::uint64_t configuration) const;
  std::int32_t responsible_kernel(std::uint64_t configuration) const;

  CertifiableProblem problem_;
  CertifyOptions options_;
  Configurations configurations_;
  std::size_t objectives_;
  std::unique_ptr<bool[]> is_maximised_;
  std::vector<KernelKnowledge> kernels_;
  std::vector<double> low_, high_, optimistic_;    // by kernel
  std::vector<std::vector<std::uint32_t>> users_;  // configurations by kernel
  std::vector<std::int32_t> open_kernels_;         // of each configuration, unmeasured
  std::vector<double> lower_;                      // objectives of each configuration
  std::vector<Verdict> verdicts_;
  std::vector<std::uint32_t> versions_;  // candidates of older ones are stale
  std::priority_queue<Candidate> queue_;
  std::vector<UpperArchive> archives_;     // by front
  std::vector<double> weights_, offsets_;  // front x objective
  // By domain and level: how far the evaluated keys lay above their first bounds, and of how many.
  struct Excess {
    double sum = 0;
    std::size_t count = 0;
  };
  std::vector<std::vector<Excess>> excess_;
  std::vector<BoundAlarm> alarms_;
  std::size_t kernels_measured_ = 0;
};

}  // namespace halmark
