#include "engine.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "phases.hpp"

namespace hm_qpu {
namespace {

// A step with its numbers in the state's type, made once per pass.
template <class T>
struct Ready {
  const Step* step = nullptr;
  std::vector<T> real, imaginary;  // of a matrix
  DenseArguments<T> dense;
  OneArguments<T> one;
  Diagonal<T> diagonal;
};

template <class T>
Ready<T> make_ready(const Step& step, const PlanShape& shape) {
  Ready<T> out{.step = &step};
  if (step.kind == Step::Kind::phases) {
    out.diagonal = Diagonal<T>(step.phases, shape.block);
    return out;
  }
  for (const Complex& value : step.matrix) {
    out.real.push_back(static_cast<T>(value.real()));
    out.imaginary.push_back(static_cast<T>(value.imag()));
  }
  out.dense.count = static_cast<int>(step.qubits.size());
  std::copy(step.qubits.begin(), step.qubits.end(), out.dense.qubits);
  out.one.target = step.qubits.front();
  out.one.controls = step.controls;
  if (step.qubits.size() == 1) {
    std::copy(out.real.begin(), out.real.end(), out.one.real);
    std::copy(out.imaginary.begin(), out.imaginary.end(), out.one.imaginary);
  }
  return out;
}

// Buffers of one thread, on lines of their own.
template <class T>
class Workspace {
 public:
  explicit Workspace(std::size_t amplitudes)
      : parts_(static_cast<T*>(::operator new(2 * (amplitudes + pad) * sizeof(T), alignment))),
        stride_(amplitudes + pad) {}
  ~Workspace() { ::operator delete(parts_, alignment); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  T* real() { return parts_; }
  T* imaginary() { return parts_ + stride_; }

 private:
  static constexpr std::align_val_t alignment{64};
  // Both parts at the same place of a page would meet in the same sets of a cache.
  static constexpr std::size_t pad = 512 / sizeof(T);
  T* parts_;
  std::size_t stride_;
};

// Where block `index` begins, and where each of its contiguous runs lies from there.
class Places {
 public:
  Places(const PlanShape& shape, const Pass& pass) : low_(shape.low), high_(pass.high) {
    for (const int q : high_) mask_ |= Mask{1} << q;
    const Mask below = (Mask{1} << low_) - 1;
    outer_mask_ = ((Mask{1} << shape.qubits) - 1) & ~mask_ & ~below;
    for (Mask run = 0; run < Mask{1} << high_.size(); ++run) runs_.push_back(deposit(run, mask_));
  }
  Mask block(Mask index) const { return deposit(index, outer_mask_); }
  std::span<const Mask> runs() const { return runs_; }

 private:
  // The bits of `value` at the places that are set in `mask`, lowest first.
  static Mask deposit(Mask value, Mask mask) {
    Mask out = 0;
    for (; mask != 0; mask &= mask - 1, value >>= 1) {
      if ((value & 1) != 0) out |= mask & (~mask + 1);
    }
    return out;
  }
  int low_;
  std::vector<int> high_;
  Mask mask_ = 0, outer_mask_ = 0;
  std::vector<Mask> runs_;
};

template <class T>
class PassRun {
 public:
  PassRun(const PlanShape& shape, const BlockLoops<T>& loops, const Pass& pass, const T* source,
          T* state)
      : loops_(loops),
        places_(shape, pass),
        run_(std::int64_t{1} << shape.low),
        count_(std::int64_t{1} << shape.block),
        source_(source),
        state_(state) {
    for (const Step& step : pass.steps) steps_.push_back(make_ready<T>(step, shape));
  }

  void block(std::int64_t index, Workspace<T>& work) const {
    const Mask base = places_.block(static_cast<Mask>(index));
    T* re = work.real();
    T* im = work.imaginary();
    load(base, re, im);
    for (const Ready<T>& ready : steps_) apply(ready, base, re, im);
    std::int64_t at = 0;
    for (const Mask run : places_.runs()) {
      loops_.join(re + at, im + at, state_ + 2 * (base | run), run_);
      at += run_;
    }
  }

 private:
  void load(Mask base, T* re, T* im) const {
    if (source_ == nullptr) {
      std::memset(re, 0, static_cast<std::size_t>(count_) * sizeof(T));
      std::memset(im, 0, static_cast<std::size_t>(count_) * sizeof(T));
      if (base == 0) re[0] = 1;
      return;
    }
    std::int64_t at = 0;
    for (const Mask run : places_.runs()) {
      loops_.split(source_ + 2 * (base | run), re + at, im + at, run_);
      at += run_;
    }
  }

  void apply(const Ready<T>& ready, Mask base, T* re, T* im) const {
    const Step& step = *ready.step;
    if (step.kind == Step::Kind::phases) return ready.diagonal.apply(loops_, base, re, im);
    if ((base & step.outer_controls) != step.outer_controls) return;
    const bool is_alone =
        step.qubits.size() == 1 && (step.controls != 0 || step.qubits.front() < loops_.lane_bits);
    if (is_alone) return loops_.one(re, im, count_, ready.one);
    DenseArguments<T> dense = ready.dense;
    dense.real = ready.real.data();
    dense.imaginary = ready.imaginary.data();
    loops_.dense(re, im, count_, dense);
  }

  const BlockLoops<T>& loops_;
  Places places_;
  std::int64_t run_, count_;
  const T* source_;
  T* state_;
  std::vector<Ready<T>> steps_;
};

}  // namespace

template <class T>
void Engine<T>::run(std::span<const Pass> passes, const T* source, T* state) const {
  const std::int64_t blocks = std::int64_t{1} << (shape_.qubits - shape_.block);
  const int team = static_cast<int>(std::min<std::int64_t>(threads_, blocks));
  std::vector<std::unique_ptr<Workspace<T>>> work;
  for (int i = 0; i < team; ++i) {
    work.push_back(std::make_unique<Workspace<T>>(std::size_t{1} << shape_.block));
  }
  for (const Pass& pass : passes) {
    const PassRun<T> run(shape_, loops_, pass, source, state);
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static)
    for (int part = 0; part < team; ++part) {
      for (std::int64_t b = blocks * part / team; b < blocks * (part + 1) / team; ++b) {
        run.block(b, *work[static_cast<std::size_t>(part)]);
      }
    }
    source = state;
  }
}

template class Engine<float>;
template class Engine<double>;

}  // namespace hm_qpu
