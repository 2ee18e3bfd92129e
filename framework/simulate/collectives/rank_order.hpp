// Ranks by their place in the levels: rank = sum of digit x ranks inside, innermost first.
#pragma once

#include <cstdint>
#include <vector>

namespace halmark::simulate {

struct RankShape {
  // Levels of one rank are left out.
  explicit RankShape(const std::vector<std::int64_t>& ranks);

  std::vector<std::int32_t> ranks;   // of each level
  std::vector<std::int32_t> inside;  // of a group that the level joins
  std::int32_t count = 1;

  std::size_t levels() const { return ranks.size(); }
  std::int32_t digit(std::int32_t rank, std::size_t level) const {
    return rank / inside[level] % ranks[level];
  }
  std::int32_t with_digit(std::int32_t rank, std::size_t level, std::int32_t digit) const {
    return rank + (digit - this->digit(rank, level)) * inside[level];
  }
  // The outermost level whose digits differ; the ranks differ.
  std::size_t level_between(std::int32_t a, std::int32_t b) const;
  // Around all ranks, every group left once. Neighbouring groups are passed in opposite directions,
  // so that the way out of one and into the next has the same place in both, as on one rail;
  // `channel` turns the innermost level, so that each has another such place.
  std::vector<std::int32_t> ring(std::int32_t channel) const;
};

// Parents in two trees of `count` nodes with root 0 (-1 there): as deep as log2(count), rounded up,
// and nobody but the root and one other has children in both (Sanders, Speck and Traff, 2009; built
// as in NCCL, src/graph/trees.cc).
std::vector<std::int32_t> tree_parents(std::int32_t count, bool is_second);

}  // namespace halmark::simulate
