#include "kernels/inputs.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t pool_stream = 0x48616c6d61726b31ULL;
constexpr std::int64_t pool_values = InputPool::pool_elements + InputPool::chunk_elements;

// Box-Muller on 4096 radii and 4096 angles: two table reads per value instead of a logarithm and a
// cosine, so that a pool of a million takes milliseconds. The grid has 2^24 points and reaches
// 4.2 sigma; its smallest value is 1.2e-5, so no bf16 or f32 result is denormal.
class NormalTable {
 public:
  NormalTable() {
    for (const auto i : indices(points)) {
      const double u = (as_double(i) + 0.5) / points;
      radius_[i] = std::sqrt(-2 * std::log(u));
      cosine_[i] = std::cos(2 * std::numbers::pi * u);
    }
  }
  double value(std::uint64_t bits) const {
    return radius_[bits & (points - 1)] * cosine_[(bits >> 12) & (points - 1)];
  }

 private:
  static constexpr std::size_t points = 4096;
  std::array<double, points> radius_{};
  std::array<double, points> cosine_{};
};

double smallest_normal(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
    case Dtype::f8_e5m2:
    case Dtype::f8_e5m2fnuz:
      return 0x1p-14;
    case Dtype::f8_e4m3fn:
    case Dtype::f8_e4m3fnuz:
      return 0x1p-6;
    default:
      return is_integer(dtype) ? 0 : 0x1p-126;
  }
}

using Block = std::array<double, InputPool::chunk_elements>;

template <class ValueOf>
void draw(std::uint64_t first, Block& block, ValueOf value_of) {
  // Half a hash per value: normals take 24 bits, the others fewer.
  for (std::size_t i = 0; i < block.size(); i += 2) {
    const auto bits = hash_u64(pool_stream, first + i);
    block[i] = value_of(bits);
    block[i + 1] = value_of(bits >> 32);
  }
}

// Values [first, first + block.size()) of the pool, before rounding to the dtype.
void draw_block(const OperandSpec& operand, std::uint64_t first, Block& block) {
  static const NormalTable normals;
  const double scale = operand.scale;
  switch (operand.distribution) {
    case Distribution::normal:
      draw(first, block, [&](std::uint64_t bits) { return scale * normals.value(bits); });
      break;
    case Distribution::positive:
      draw(first, block,
           [&](std::uint64_t bits) { return scale * (std::fabs(normals.value(bits)) + 0.1); });
      break;
    case Distribution::uniform:
      draw(first, block, [&](std::uint64_t bits) {
        return scale * (as_double(bits & 0xffffffu) * 0x1p-23 - 1.0);
      });
      break;
    case Distribution::integers:
      draw(first, block, [&](std::uint64_t bits) {
        return scale * (as_double(uniform_below(bits << 32, 17)) - 8.0);
      });
      break;
    case Distribution::indices: {
      const auto bound = as_uint64(std::max<std::int64_t>(operand.index_bound, 1));
      draw(first, block,
           [&](std::uint64_t bits) { return as_double(uniform_below(bits << 32, bound)); });
      break;
    }
    case Distribution::constant_one:
      block.fill(scale);
      break;
    case Distribution::zeros:
    case Distribution::given:
      block.fill(0);
      break;
  }
}

std::uint16_t bf16_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

template <class Element, class Convert>
void convert_all(const Block& values, unsigned char* target, Convert convert) {
  for (const auto i : indices(values)) {
    const Element element = convert(values[i]);
    std::memcpy(target + i * sizeof(Element), &element, sizeof(Element));
  }
}

// The common types have a loop of their own; store_element costs a dispatch per value.
void store_block(Dtype dtype, const Block& values, unsigned char* target) {
  switch (dtype) {
    case Dtype::f32:
      convert_all<float>(values, target, [](double v) { return static_cast<float>(v); });
      return;
    case Dtype::bf16:
      // Through f32: double rounding moves a tie at most, and the value read back is the one used.
      convert_all<std::uint16_t>(values, target, bf16_bits);
      return;
    case Dtype::s8:
      convert_all<std::int8_t>(values, target, [](double v) {
        return static_cast<std::int8_t>(std::nearbyint(std::clamp(v, -128.0, 127.0)));
      });
      return;
    case Dtype::u8:
      convert_all<std::uint8_t>(values, target, [](double v) {
        return static_cast<std::uint8_t>(std::nearbyint(std::clamp(v, 0.0, 255.0)));
      });
      return;
    default:
      break;
  }
  const double floor = smallest_normal(dtype);
  for (const auto i : indices(values)) {
    const double value = std::fabs(values[i]) < floor ? 0.0 : values[i];
    store_element(dtype, target, as_int64(i), value);
  }
}

// Block by block, so that no second array of a million doubles is touched: fresh pages cost more
// than the values.
std::vector<unsigned char> make_pool(const OperandSpec& operand) {
  const auto width = as_size(dtype_bits(operand.dtype)) / 8;
  std::vector<unsigned char> pool(as_size(pool_values) * width);
  Block block;
  for (std::int64_t first = 0; first < pool_values; first += InputPool::chunk_elements) {
    draw_block(operand, as_uint64(first), block);
    store_block(operand.dtype, block, pool.data() + as_size(first) * width);
  }
  return pool;
}

// A cache of immutable values, not state: a worker stages hundreds of cases from a handful of
// pools.
struct SharedPools {
  using Key = std::tuple<Dtype, Distribution, double, std::int64_t>;
  std::mutex mutex;
  std::map<Key, std::shared_ptr<const std::vector<unsigned char>>> pools;
};
SharedPools& shared_pools() {
  static SharedPools shared;
  return shared;
}

std::shared_ptr<const std::vector<unsigned char>> shared_pool(const OperandSpec& operand) {
  SharedPools& shared = shared_pools();
  const SharedPools::Key key{operand.dtype, operand.distribution, operand.scale,
                             operand.index_bound};
  const std::lock_guard lock(shared.mutex);
  auto& pool = shared.pools[key];
  if (!pool) pool = std::make_shared<const std::vector<unsigned char>>(make_pool(operand));
  return pool;
}

std::shared_ptr<const std::vector<unsigned char>> given_pool(const OperandSpec& operand) {
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t>& given = operand.given ? operand.given->get() : none;
  if (std::ssize(given) != operand.elements()) {
    throw refused("operand " + operand.name + " needs " + std::to_string(operand.elements()) +
                  " given values; its contract has " + std::to_string(given.size()));
  }
  std::vector<unsigned char> pool(as_size(operand.bytes()));
  for (const auto i : indices(given)) {
    store_element(operand.dtype, pool.data(), as_int64(i), as_double(given[i]));
  }
  return std::make_shared<const std::vector<unsigned char>>(std::move(pool));
}

// References read millions of values: the common types skip the dispatch per value.
void load_values(Dtype dtype, const unsigned char* pool, std::int64_t start,
                 std::span<double> out) {
  const auto first = as_size(start);
  if (dtype == Dtype::f32) {
    for (const auto i : indices(out)) {
      float value = 0;
      std::memcpy(&value, pool + (first + i) * sizeof value, sizeof value);
      out[i] = value;
    }
  } else if (dtype == Dtype::bf16) {
    for (const auto i : indices(out)) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, pool + (first + i) * sizeof bits, sizeof bits);
      out[i] = std::bit_cast<float>(as_uint32(bits) << 16);
    }
  } else {
    for (const auto i : indices(out)) {
      out[i] = load_element(dtype, pool, start + as_int64(i));
    }
  }
}

bool is_read(Role role) { return role != Role::output; }

}  // namespace

std::int64_t forget_input_pools() {
  SharedPools& shared = shared_pools();
  const std::lock_guard lock(shared.mutex);
  std::int64_t bytes = 0;
  for (const auto& [key, pool] : shared.pools) bytes += std::ssize(*pool);
  shared.pools.clear();
  return bytes;
}

InputPool::InputPool(std::uint64_t seed, const OperandSpec& operand)
    : seed_(seed), operand_(operand) {
  if (dtype_bits(operand.dtype) < 8) {
    throw refused("operand " + operand.name + ": inputs of " +
                  std::string(dtype_name(operand.dtype)) + " cannot be generated");
  }
  if (!is_read(operand.role)) return;
  pool_ = is_given() ? given_pool(operand) : shared_pool(operand);
}

std::int64_t InputPool::chunk_start(int rank, int set, std::size_t operand_index,
                                    std::int64_t chunk) const {
  const auto place = (as_uint64(as_uint32(rank)) << 32) | as_uint32(set);
  const auto stream = hash_combine(hash_combine(seed_, place), operand_index);
  return as_int64(hash_u64(stream, as_uint64(chunk)) % as_uint64(pool_elements));
}

void InputPool::fill(int rank, int set, std::size_t operand_index, void* target) const {
  assert(pool_ && "an output operand has no inputs");
  const auto width = as_size(dtype_bits(operand_.dtype)) / 8;
  auto* out = static_cast<unsigned char*>(target);
  if (is_given()) {
    std::memcpy(out, pool_->data(), pool_->size());
    return;
  }
  const auto total = operand_.elements();
  for (std::int64_t begin = 0; begin < total; begin += chunk_elements) {
    const auto start = chunk_start(rank, set, operand_index, begin / chunk_elements);
    const auto count = as_size(std::min(chunk_elements, total - begin));
    std::memcpy(out + as_size(begin) * width, pool_->data() + as_size(start) * width,
                count * width);
  }
}

void InputPool::read(int rank, int set, std::size_t operand_index, std::int64_t offset,
                     std::span<double> out) const {
  assert(pool_ && "an output operand has no inputs");
  if (is_given()) {
    load_values(operand_.dtype, pool_->data(), offset, out);
    return;
  }
  std::size_t done = 0;
  while (done < out.size()) {
    const auto element = offset + as_int64(done);
    const auto within = element % chunk_elements;
    const auto start = chunk_start(rank, set, operand_index, element / chunk_elements) + within;
    const auto count = std::min<std::size_t>(out.size() - done, as_size(chunk_elements - within));
    load_values(operand_.dtype, pool_->data(), start, out.subspan(done, count));
    done += count;
  }
}

GeneratedInputs::GeneratedInputs(std::uint64_t seed, std::span<const OperandSpec> operands, int set)
    : set_(set) {
  pools_.reserve(operands.size());
  for (const auto& operand : operands) pools_.emplace_back(seed, operand);
}

void GeneratedInputs::read(int rank, std::size_t operand, std::int64_t offset,
                           std::span<double> out) const {
  pools_.at(operand).read(rank, set_, operand, offset, out);
}

}  // namespace halmark
