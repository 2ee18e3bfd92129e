// What a certifier has shown, as boxes of configurations that fill the space, each with its reason.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "search/certify/certify.hpp"

namespace halmark {

// One lower bound of a box, and who is at least as good (dominated), or how far the nearest
// evaluated configuration is from it (open).
struct LeafBound {
  Objectives bound;
  std::uint64_t by = 0;
  double gap = 0;
};

// A box: the first `levels.size()` domains are fixed, the others free.
struct CertificateLeaf {
  enum class Kind { constraint, failed, dominated, evaluated, open };
  Kind kind = Kind::open;
  std::vector<std::int32_t> levels = {};
  std::uint64_t configurations = 0;            // valid ones in it
  std::vector<std::int32_t> constraints = {};  // that its combinations break; of kind constraint
  std::int32_t kernel = -1;                    // that failed
  std::int32_t cut = -1;  // dominated: bounds are those of the parts along this domain; -1 = one
  std::vector<LeafBound> bounds = {};
  std::vector<Interval> interval = {};  // evaluated: per objective
};

struct CertifiedPoint {
  std::uint64_t configuration = 0;
  std::size_t front = 0;
  std::vector<Interval> interval;  // per objective, minimised
  std::vector<std::int32_t> kernels;
  bool is_certain =
      false;  // no other point of the front, and nothing open, can turn out to beat it
};

enum class CertificateState { certified, within_eps, open };
std::string_view certificate_state_name(CertificateState state);

struct Certificate {
  CertificateState state = CertificateState::open;
  std::vector<CertificateLeaf> leaves;
  std::vector<CertifiedPoint> front;  // per front, in the order of configurations
  std::uint64_t configurations = 0;   // valid
  std::uint64_t evaluated = 0, dominated = 0, failed = 0, open = 0;  // add up to it
  double gap = 0;  // of what is open; 0 when nothing is
};

// From the kernels' times alone: how the certifier came to measure them plays no part. Of equal
// evaluated vectors the first configuration stands for all.
Certificate make_certificate(const Certifier& certifier);

}  // namespace halmark
