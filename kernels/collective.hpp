// Bases of the collectives: `bytes` of one rank's source, `ranks`, `dtype`. An op says how blocks
// move or add up, and its bus factor; everything else is written once.
#pragma once

#include <optional>

#include "kernels/rowwise.hpp"

namespace halmark {

class CollectiveContract : public NamedContract {
 public:
  CollectiveContract(std::string_view name, std::string_view summary);
  std::optional<std::string> check_relations(const Params& p) const override;
  std::vector<OperandSpec> operands(const Params& p) const override;
  Work work(const Params& p) const override;
  Params twin(const Params& p) const override;
  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override;
  bool is_collective() const override { return true; }

 protected:
  // Read at once where neighbours in dst are neighbours in one source.
  static constexpr std::int64_t read_block_elements = 4096;

  // busbw / algbw of `ranks` > 1, as nccl-tests defines it (doc/PERFORMANCE.md): the bytes that
  // the busiest direction of one rank's link carries, over the size of the message. One rank moves
  // nothing, whatever the op.
  virtual double bus_factor(double ranks) const = 0;
  virtual Exchange exchange() const = 0;
  // The size in nccl-tests: the larger of one rank's source and destination.
  virtual double message_bytes(const Params& p) const { return static_cast<double>(p.at("bytes")); }
  // Whether the source is one block per rank, so that `bytes` must divide by `ranks`.
  virtual bool is_source_split() const { return false; }
  virtual std::vector<std::int64_t> destination_dims(const Params& p) const {
    return source_dims(p);
  }
  // Additions of one rank; 0 for ops that only move.
  virtual double additions(const Params&) const { return 0; }

  static std::int64_t elements_of(const Params& p);        // of one rank's source
  static std::int64_t block_elements_of(const Params& p);  // of one rank's part of it
  std::vector<std::int64_t> source_dims(const Params& p) const;
};

// Every element of dst is one element of some rank's source, unchanged.
class MovingCollective : public CollectiveContract {
 public:
  using CollectiveContract::CollectiveContract;
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override;

 protected:
  struct Origin {
    int rank = 0;
    std::int64_t element = 0;
  };
  // Where `element` of dst on `rank` comes from; consecutive within a row of row_elements().
  virtual Origin origin(const Params& p, int rank, std::int64_t element) const = 0;
  virtual std::int64_t row_elements(const Params&) const { return read_block_elements; }
};

// Every element of dst is the sum of one element over all ranks.
class ReducingCollective : public CollectiveContract {
 public:
  using CollectiveContract::CollectiveContract;
  // Partial sums travel in the dtype itself, so every one of the n - 1 additions may round to it.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override;

 protected:
  // (n - 1) / n of the elements: the least that one rank must add without help of the network.
  double additions(const Params& p) const override;
  // The source element that is summed into element 0 of dst on `rank`.
  virtual std::int64_t first_element(const Params&, int rank) const {
    static_cast<void>(rank);
    return 0;
  }
};

// Bandwidths of a collective as nccl-tests prints them, in bytes/s.
struct CollectiveBandwidth {
  double algorithm = 0;  // algbw: message_bytes / time
  double bus = 0;        // busbw: transfer_bytes / time, comparable with a link's peak
};
// Nothing for work that is no collective.
std::optional<CollectiveBandwidth> collective_bandwidth(const Work& work, double duration_ns);

}  // namespace halmark
