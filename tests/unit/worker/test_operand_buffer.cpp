// One operand's memory: where it lies, what surrounds it, which of its bytes are summed and marked.
#include "worker/staging/operand_buffer.hpp"

#include <gtest/gtest.h>

#include "table_device.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using test::state;
using test::TableDevice;

const Problem copy = test::copy(64);

OperandBuffer make(TableDevice& d, std::uint64_t bytes, std::uint64_t alignment = 64) {
  auto made = OperandBuffer::create(d.device, d.memory, bytes, alignment, Fallback::own_mapping);
  return std::move(*made);
}

std::vector<std::byte> bytes_of(OperandBuffer& buffer) {
  std::vector<std::byte> out(buffer.bytes());
  buffer.read(out.data(), out.size());
  return out;
}

class EitherMemory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) return;
    device.tables.memory.wrap = nullptr;
    device.reopen();
  }
  TableDevice device{copy};
};

TEST_P(EitherMemory, is_written_read_and_poisoned_whole) {
  OperandBuffer buffer = make(device, 200);
  EXPECT_EQ(buffer.bytes(), 200u);
  EXPECT_EQ(buffer.host() != nullptr, GetParam());
  EXPECT_NE(buffer.handle(), nullptr);
  std::vector<std::byte> values(200);
  for (std::size_t i = 0; i < 200; ++i) values[i] = static_cast<std::byte>(i);
  buffer.write(values.data(), 200);
  EXPECT_EQ(bytes_of(buffer), values);
  const std::uint64_t sum = buffer.checksum();
  buffer.poison();
  EXPECT_EQ(bytes_of(buffer), std::vector<std::byte>(200, std::byte{0xFF}));
  EXPECT_NE(buffer.checksum(), sum);
  buffer.write(values.data(), 200);
  EXPECT_EQ(buffer.checksum(), sum);
  EXPECT_TRUE(buffer.canaries_intact());
}

// Lines of 64 bytes; the last of 200 bytes has 8.
TEST_P(EitherMemory, is_marked_by_the_line_around) {
  OperandBuffer buffer = make(device, 200);
  const std::vector<std::byte> zeros(200);
  for (const auto& [offset, begin, end] :
       {std::tuple(0, 0, 64), std::tuple(63, 0, 64), std::tuple(64, 64, 128),
        std::tuple(199, 192, 200), std::tuple(200, 0, 64), std::tuple(200 + 130, 128, 192)}) {
    buffer.write(zeros.data(), 200);
    buffer.poison_line(static_cast<std::uint64_t>(offset));
    const auto found = bytes_of(buffer);
    for (int at = 0; at < 200; ++at) {
      const bool is_marked = at >= begin && at < end;
      ASSERT_EQ(found[static_cast<std::size_t>(at)], is_marked ? std::byte{0xFF} : std::byte{0})
          << offset << ' ' << at;
    }
  }
  OperandBuffer nothing;
  nothing.poison_line(64);
}

INSTANTIATE_TEST_SUITE_P(OperandBuffer, EitherMemory, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "of_the_host" : "of_the_device");
});

TEST(OperandBuffer, lies_on_its_alignment_and_on_a_line_at_least) {
  TableDevice d(copy, 1 << 20);
  for (const std::uint64_t alignment : {1u, 64u, 128u, 4096u, 8192u}) {
    const OperandBuffer buffer = make(d, 100, alignment);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.host());
    EXPECT_EQ(address % std::max<std::uint64_t>(alignment, 64), 0u) << alignment;
  }
}

// 64 bytes on either side are watched, and no further ones.
TEST(OperandBuffer, is_surrounded_by_64_bytes_that_nobody_may_write) {
  TableDevice d(copy);
  for (const std::ptrdiff_t at : {-65, -64, -1, 0, 99, 100, 163, 164}) {
    const bool is_watched = at >= -64 && at < 164 && (at < 0 || at >= 100);
    OperandBuffer buffer = make(d, 100, 256);
    ASSERT_TRUE(buffer.canaries_intact());
    buffer.host()[at] ^= std::byte{1};
    EXPECT_EQ(buffer.canaries_intact(), !is_watched) << at;
    buffer.host()[at] ^= std::byte{1};
    EXPECT_TRUE(buffer.canaries_intact());
  }
}

TEST(OperandBuffer, takes_its_bytes_its_surroundings_and_its_alignment_of_the_arena) {
  TableDevice d(copy, 16 * 4096);
  const OperandBuffer one = make(d, 4096 - 2 * 64 - 64);
  EXPECT_EQ(d.memory.largest_free_bytes(), 15u * 4096) << "exactly a page";
  const OperandBuffer two = make(d, 4096 - 2 * 64 - 63);
  EXPECT_EQ(d.memory.largest_free_bytes(), 13u * 4096);
  const OperandBuffer aligned = make(d, 100, 4096);
  EXPECT_EQ(d.memory.largest_free_bytes(), 11u * 4096);
}

TEST(OperandBuffer, beyond_the_arena_is_none_or_a_mapping_of_its_own) {
  TableDevice d(copy, 4096);
  EXPECT_FALSE(OperandBuffer::create(d.device, d.memory, 8192, 64, Fallback::none));
  auto own = OperandBuffer::create(d.device, d.memory, 8192, 64, Fallback::own_mapping);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->bytes(), 8192u);
  EXPECT_EQ(d.memory.largest_free_bytes(), 4096u);
  TableDevice without(copy);
  EXPECT_TRUE(OperandBuffer::create(without.device, without.memory, 8192, 64, Fallback::none));
}

TEST(OperandBuffer, that_the_device_cannot_make_fails_as_creation) {
  TableDevice d(copy);
  state.buffers_left = 0;
  const protocol::Failed failed = test::failure_of([&] { make(d, 64); });
  EXPECT_EQ(failed.code, HM_OUT_OF_MEMORY);
  EXPECT_EQ(failed.phase, "create");
}

bool notices(OperandBuffer& buffer, std::uint64_t at) {
  const std::uint64_t before = buffer.checksum();
  buffer.host()[at] ^= std::byte{1};
  const bool differs = buffer.checksum() != before;
  buffer.host()[at] ^= std::byte{1};
  return differs;
}

TEST(OperandBuffer, is_summed_whole_up_to_eight_mebibytes) {
  TableDevice d(copy);
  OperandBuffer whole = make(d, 8u << 20);
  for (const std::uint64_t at : {0u, 16u << 10, 20'000u, (8u << 20) - 1}) {
    EXPECT_TRUE(notices(whole, at)) << at;
  }
  OperandBuffer larger = make(d, (8u << 20) + 1);
  EXPECT_FALSE(notices(larger, 20'000));
}

// 255 steps from the first slice of 16 KiB to the last, which ends with the buffer.
TEST(OperandBuffer, beyond_that_in_256_slices_from_the_first_byte_to_the_last) {
  TableDevice d(copy);
  constexpr std::uint64_t bytes = (9u << 20) + 77, slice = 16u << 10;
  constexpr std::uint64_t step = (bytes - slice) / 255;
  OperandBuffer buffer = make(d, bytes);
  for (const std::uint64_t i : {0u, 1u, 100u, 254u, 255u}) {
    EXPECT_TRUE(notices(buffer, i * step)) << i;
    EXPECT_TRUE(notices(buffer, i * step + slice - 1)) << i;
    if (i < 254) {
      EXPECT_FALSE(notices(buffer, i * step + slice)) << i;
      EXPECT_FALSE(notices(buffer, (i + 1) * step - 1)) << i;
    }
  }
  EXPECT_TRUE(notices(buffer, bytes - 1));
  EXPECT_TRUE(notices(buffer, bytes - slice));
}

}  // namespace
}  // namespace halmark::worker
