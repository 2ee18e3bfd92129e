// The contract of an op: parameters, FLOPs, bytes, fp64 reference, tolerance, input distributions.
// It belongs to the host; a plugin may claim none of it. FLOPs and bytes come from here only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "core/work.hpp"

namespace halmark {

enum class ParamKind { size, dtype, flag, choice };

struct ParamSpec {
  std::string_view name;
  ParamKind kind = ParamKind::size;
  std::int64_t low = 1;
  std::int64_t high = 0;                                // for dtype and choice: see `allowed`
  std::optional<std::int64_t> fallback = std::nullopt;  // absent = required
  std::span<const std::int64_t> allowed = {};  // dtype numbers or choices; empty = low..high
  std::string_view meaning = {};
  bool derived = false;  // follows from the others: OpContract::derived; nobody has to give it
};

enum class Role { input = 1, output = 2, in_out = 3, constant = 4, state = 5 };  // = HM_ROLE_*

// Recorded axis: part of the journal key through the operand order and this name.
enum class Distribution {
  normal,
  uniform,
  integers,
  zeros,
  constant_one,
  indices,
  positive,
  given
};

// Values that a contract states, made when they are first read: those who count bytes need none,
// and a model's step may be larger than any kernel that is executed.
class GivenValues {
 public:
  using Make = std::function<std::vector<std::int64_t>()>;
  explicit GivenValues(Make make) : make_(std::move(make)) {}
  const std::vector<std::int64_t>& get() const {
    std::call_once(once_, [this] { values_ = make_(); });
    return values_;
  }

 private:
  Make make_;
  mutable std::once_flag once_;
  mutable std::vector<std::int64_t> values_;
};

struct OperandSpec {
  std::string name;  // what the plugin's operand() must report
  Role role = Role::input;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> dims;  // plain row-major layout
  Distribution distribution = Distribution::normal;
  double scale = 1.0;            // values = distribution * scale, then rounded to dtype
  std::int64_t index_bound = 0;  // indices: uniform in [0, index_bound)
  // given: every element, the same in all sets; shared because operands are copied around.
  std::shared_ptr<const GivenValues> given = nullptr;
  std::int64_t elements() const;
  std::int64_t bytes() const;
};

// Reads operand values as the kernel sees them (already rounded to the operand's dtype).
class InputReader {
 public:
  virtual ~InputReader() = default;
  // Fills `out` with elements [offset, offset + out.size()) of operand `operand` on rank `rank`.
  virtual void read(int rank, std::size_t operand, std::int64_t offset,
                    std::span<double> out) const = 0;
};

struct Expected {
  double value = 0;      // fp64 reference
  double tolerance = 0;  // absolute; 0 = exact
};

class OpContract {
 public:
  virtual ~OpContract() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // one line: what it computes, shapes
  virtual std::span<const ParamSpec> params() const = 0;
  // Relations between parameters beyond their ranges; nothing when the problem is well-formed.
  virtual std::optional<std::string> check_relations(const Params&) const { return std::nullopt; }
  // Value of a derived parameter; asked only after check_relations found no fault. A plugin reads
  // it instead of knowing how it follows.
  virtual std::int64_t derived(std::string_view, const Params&) const { return 0; }
  // In operand order of the ABI. `params` is complete (defaults filled).
  virtual std::vector<OperandSpec> operands(const Params& params) const = 0;
  virtual Work work(const Params& params) const = 0;
  // Reference and tolerance of the listed flat elements of output operand `operand` on `rank`.
  // The tolerance's reasoning stands beside its formula in the op's source.
  virtual void reference(const Params& params, const InputReader& inputs, int rank,
                         std::size_t operand, std::span<const std::int64_t> elements,
                         std::span<Expected> out) const = 0;
  // Matmul-like ops offer A(Bx) = Cx; others return nothing and are checked by elements alone.
  struct Matmul {
    std::int64_t m, n, k;
    std::size_t a, b, c;
    bool b_transposed;
  };
  virtual std::optional<Matmul> as_matmul(const Params&) const { return std::nullopt; }
  // FLOPs of the reference of one element, of ops whose elements are computed one by one without
  // being a single matmul; the others are costed by as_matmul, or row by row.
  virtual std::optional<double> element_flops(const Params&) const { return std::nullopt; }
  // The same problem with m, n <= 130, same k and dtypes: every element of it can be checked.
  virtual Params twin(const Params& params) const { return params; }
  // Largest useful shapes for the conformance suite: 1, primes, tile +- 1, batch 1 and many.
  virtual std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const = 0;
  // False for ops that have a formula and no reference yet, see priced.hpp: the model prices them,
  // nothing measures them.
  virtual bool is_measurable() const { return true; }
  virtual bool is_collective() const { return false; }
};

// The op table, generated by halmark_add_op.
std::span<const OpContract* const> all_contracts();
const OpContract* find_contract(std::string_view op);
// Throws Error (exit 2) when nothing can measure `op`, because its contract only prices it.
void require_measurable(std::string_view op);

// Fills defaults and checks names, ranges and relations. Throws Error (exit 2) naming parameter,
// value and range, with the nearest spelling for an unknown name; also for an unknown op.
Problem complete_problem(const Problem& problem);

}  // namespace halmark
