// grover: one pass per iteration. The sum that the next diffusion needs is taken while the state is
// written, in fixed parts of it, so that it is the same for every number of threads.
#include <algorithm>
#include <cmath>

#include "kernel.hpp"

namespace hm_qpu {
namespace {

constexpr std::int64_t part_amplitudes = 1 << 14;

std::int64_t iterations_of(const Params& p) {
  if (p.value_or("iterations", 0) > 0) return p.at("iterations");
  const double rotation = std::asin(std::pow(2.0, -0.5 * static_cast<double>(p.at("qubits"))));
  return static_cast<std::int64_t>(std::floor(std::acos(-1.0) / (4 * rotation)));
}

template <class T>
class Search final : public Prepared {
 public:
  Search(std::int64_t size, std::int64_t iterations, int threads)
      : size_(size), iterations_(iterations), threads_(threads) {
    sums_.resize(static_cast<std::size_t>((size + part_amplitudes - 1) / part_amplitudes));
  }

  // A state of real amplitudes stays real: the imaginary parts are written as zeros.
  void run(void* const* operands) override {
    const auto marked = static_cast<std::int64_t>(*static_cast<const std::int32_t*>(operands[0]));
    if (marked < 0 || marked >= size_) halmark::plugin::invalid("the marked element is not there");
    T* const state = static_cast<T*>(operands[1]);
    const double uniform = 1 / std::sqrt(static_cast<double>(size_));
    double sum = start(state, uniform);
    for (std::int64_t i = 0; i < iterations_; ++i) {
      const double was = static_cast<double>(state[2 * marked]);
      state[2 * marked] = -state[2 * marked];
      sum = diffuse(state, static_cast<T>(2 * (sum - 2 * was) / static_cast<double>(size_)));
    }
  }

 private:
  template <class Body>
  double over_parts(Body body) {
    const auto parts = static_cast<std::int64_t>(sums_.size());
    const int team = static_cast<int>(std::min<std::int64_t>(threads_, parts));
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = part * part_amplitudes;
      sums_[static_cast<std::size_t>(part)] = body(begin, std::min(size_, begin + part_amplitudes));
    }
    double sum = 0;
    for (const double each : sums_) sum += each;
    return sum;
  }

  double start(T* state, double uniform) {
    return over_parts([=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        state[2 * i] = static_cast<T>(uniform);
        state[2 * i + 1] = 0;
      }
      return static_cast<double>(static_cast<T>(uniform)) * static_cast<double>(end - begin);
    });
  }

  double diffuse(T* state, T twice_mean) {
    return over_parts([=](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t lanes = 32;  // sums in f64, in an order that vectors keep
      double sums[lanes] = {};
      T* const part = state + 2 * begin;
      const std::int64_t count = 2 * (end - begin);
      std::int64_t i = 0;
      for (; i + lanes <= count; i += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const T value = (lane % 2 == 0 ? twice_mean : T{0}) - part[i + lane];
          part[i + lane] = value;
          sums[lane] += static_cast<double>(value);
        }
      }
      for (; i < count; ++i) {
        part[i] = (i % 2 == 0 ? twice_mean : T{0}) - part[i];
        sums[i % 2] += static_cast<double>(part[i]);
      }
      double sum = 0;
      for (std::int64_t lane = 0; lane < lanes; lane += 2) sum += sums[lane];
      return sum;
    });
  }

  std::int64_t size_, iterations_;
  int threads_;
  std::vector<double> sums_;
};

class Grover final : public Kernel {
 public:
  std::string_view name() const override { return "grover_passes"; }
  std::string_view op() const override { return "grover"; }
  std::vector<Domain> domains(const Device& device, const Params&) const override {
    return {threads_domain(device)};
  }
  void require_support(const Device& device, const Params& p) const override {
    halmark::plugin::reject_unknown(p, {"qubits", "iterations", "dtype"});
    require_states(device, p, 1);
    if (p.value_or("iterations", 0) < 0) unsupported("iterations below 0");
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& p,
                                    const Params& config) const override {
    const std::int64_t size = std::int64_t{1} << p.at("qubits");
    const auto threads = static_cast<int>(config.value_or("threads", device.threads));
    std::unique_ptr<Prepared> out;
    if (is_single(p)) {
      out = std::make_unique<Search<float>>(size, iterations_of(p), threads);
    } else {
      out = std::make_unique<Search<double>>(size, iterations_of(p), threads);
    }
    out->operands = {{"marked", HM_ROLE_INPUT, HM_DTYPE_S32, {1}, 0, ""},
                     state_operand("dst", HM_ROLE_OUTPUT, p)};
    out->info.implementation =
        "halmark:reflections:" + std::to_string(iterations_of(p) + 1) + " passes";
    return out;
  }
};

}  // namespace

const Kernel& grover_kernel() {
  static const Grover kernel;
  return kernel;
}

}  // namespace hm_qpu
