#include "engine.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "operations.hpp"

namespace hm_qpu {
namespace {

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
        state_(state),
        scale_(static_cast<T>(pass.scale)),
        operations_(make_operations<T>(pass, shape, loops.lane_bits)) {}

  void block(std::int64_t index, Workspace<T>& work) const {
    const Mask base = places_.block(static_cast<Mask>(index));
    T* re = work.real();
    T* im = work.imaginary();
    load(base, re, im);
    for (const Operation<T>& operation : operations_) apply(operation, base, re, im);
    std::int64_t at = 0;
    for (const Mask run : places_.runs()) {
      loops_.join(re + at, im + at, state_ + 2 * (base | run), run_, scale_);
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

  void apply(const Operation<T>& operation, Mask base, T* re, T* im) const {
    if (const auto* turns = std::get_if<Turns<T>>(&operation)) {
      loops_.turn(re, im, count_, *turns);
    } else if (const auto* diagonal = std::get_if<Diagonal<T>>(&operation)) {
      diagonal->apply(loops_, base, re, im);
    } else if (const auto& gate = std::get<Controlled<T>>(operation);
               (base & gate.outer_controls) == gate.outer_controls) {
      loops_.one(re, im, count_, gate.arguments);
    }
  }

  const BlockLoops<T>& loops_;
  Places places_;
  std::int64_t run_, count_;
  const T* source_;
  T* state_;
  T scale_;
  std::vector<Operation<T>> operations_;
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
