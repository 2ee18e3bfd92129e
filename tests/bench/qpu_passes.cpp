// Passes of the QPU simulator over a random circuit (24 qubits, depth 20) against a copy of the
// state and against the processor's multiply-adds, in turns, with the same threads. The larger
// share says what bounds a pass.
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "child.hpp"
#include "core/numeric/statistics.hpp"
#include "engine.hpp"
#include "figures.hpp"

namespace halmark::bench {
namespace {

constexpr int qubits = 24, depth = 20, turns = 5;
constexpr std::size_t huge_page = 2u << 20;

hm_qpu::Circuit random_circuit() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> angle(-3.14, 3.14);
  std::vector<int> order(qubits);
  std::iota(order.begin(), order.end(), 0);
  hm_qpu::Circuit out;
  for (int layer = 0; layer < depth; ++layer) {
    for (int q = 0; q < qubits; ++q) {
      out.push_back(hm_qpu::rotation(q, angle(random), angle(random), angle(random)));
    }
    std::ranges::shuffle(order, random);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      const hm_qpu::Mask a = hm_qpu::Mask{1} << order[i], b = hm_qpu::Mask{1} << order[i + 1];
      out.push_back(hm_qpu::phase_gate(a | b, -1));
    }
  }
  return out;
}

// Multiply-adds per amplitude that a plan cannot do without: two per rotation, a complex product
// per diagonal.
double multiply_adds(std::span<const hm_qpu::Pass> passes) {
  double out = 0;
  for (const hm_qpu::Pass& pass : passes) {
    for (const hm_qpu::Step& step : pass.steps) {
      out += 2 * static_cast<double>(step.rotations.size());
      if (step.kind == hm_qpu::Step::Kind::phases) out += 4;
    }
  }
  return out;
}

template <class T>
std::unique_ptr<T[], decltype(&std::free)> state(std::size_t bytes) {
  auto* memory = static_cast<T*>(std::aligned_alloc(huge_page, bytes));
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return {memory, &std::free};
}

template <class Call>
double seconds(Call call) {
  const double begin = monotonic_ns();
  call();
  return (monotonic_ns() - begin) / 1e9;
}

#if defined(__x86_64__)
// Twelve chains hide the latency of a multiply-add at two per clock.
template <class T>
__attribute__((target("avx2,fma"))) T chains(std::int64_t rounds) {
  typedef T vector __attribute__((vector_size(32)));
  constexpr int count = 12;
  asm volatile("" : "+r"(rounds));  // a pure function could leave the time that is taken of it
  vector values[count];
#pragma GCC unroll 12
  for (int i = 0; i < count; ++i) values[i] = vector{} + static_cast<T>(i);
  const vector factor = vector{} + T{0.5}, term = vector{} + T{1};
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < count; ++i) values[i] = values[i] * factor + term;
  }
  T sum = 0;
#pragma GCC unroll 12
  for (int i = 0; i < count; ++i) sum += values[i][0];
  return sum;
}
#endif

// Multiply-adds per second of all threads; 0 where the processor's widest vectors are others.
template <class T>
double peak(int threads) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || __builtin_cpu_supports("avx512f")) return 0;
  constexpr std::int64_t rounds = 10'000'000;
  const double time = seconds([&] {
#pragma omp parallel num_threads(threads)
    {
      volatile T sink = chains<T>(rounds);
      static_cast<void>(sink);
    }
  });
  return static_cast<double>(rounds * threads) * 12 * 32 / sizeof(T) / time;
#else
  static_cast<void>(threads);
  return 0;
#endif
}

template <class T>
void measure_as(Figures& figures, const std::string& name, const hm_qpu::BlockLoops<T>& loops,
                int block) {
  const int threads = omp_get_num_procs();
  const hm_qpu::PlanShape shape{.qubits = qubits, .block = block};
  const std::vector<hm_qpu::Pass> passes = hm_qpu::plan_passes(shape, random_circuit());
  const std::size_t bytes = 2 * sizeof(T) << qubits;
  const auto ours = state<T>(bytes), other = state<T>(bytes);
  const hm_qpu::Engine<T> engine(shape, threads, loops);
  const auto copy = [&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; ++part) {
      const std::size_t begin = bytes / sizeof(T) * static_cast<std::size_t>(part) / threads;
      const std::size_t end = bytes / sizeof(T) * static_cast<std::size_t>(part + 1) / threads;
      std::memcpy(other.get() + begin, ours.get() + begin, (end - begin) * sizeof(T));
    }
  };
  const auto count = static_cast<double>(passes.size());
  const double work = multiply_adds(passes) / count * static_cast<double>(bytes / sizeof(T) / 2);
  std::vector<double> of_copy, of_peak, pass_ms;
  for (int turn = 0; turn < turns; ++turn) {
    const double before = seconds(copy), rate = peak<T>(threads);
    const double pass = seconds([&] { engine.run(passes, nullptr, ours.get()); }) / count;
    const double copied = (before + seconds(copy)) / 2;
    of_copy.push_back(100 * copied / pass);
    of_peak.push_back(rate == 0 ? 0 : 100 * work / rate / pass);
    pass_ms.push_back(1e3 * pass);
  }
  note(name + ": " + std::to_string(passes.size()) + " passes with " + std::to_string(threads) +
       " threads, " + std::to_string(multiply_adds(passes) / count) +
       " multiply-adds per amplitude and pass");
  figures.report("qpu_pass_" + name, median(pass_ms), "ms");
  figures.report("qpu_pass_of_copy_" + name, median(of_copy), "%");
  if (median(of_peak) > 0) figures.report("qpu_pass_of_peak_" + name, median(of_peak), "%");
}

void measure(Figures& figures) {
  const hm_qpu::AllLoops& loops = hm_qpu::loops_for(2);
  measure_as<float>(figures, "c64", loops.f32, 14);
  measure_as<double>(figures, "c128", loops.f64, 13);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
