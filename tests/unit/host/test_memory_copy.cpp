// Memory as bytes over a stream: whole, or a reason.
#include "core/numeric/cast.hpp"
#include "host/memory_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "host/process/shared_memory.hpp"

namespace halmark::protocol {
namespace {

std::string sent(int fd, std::size_t writes_max = 1'000) {
  std::string out;
  const bool is_whole = send_memory(fd, [&](const char* bytes, std::size_t count) {
    if (writes_max-- == 0) return false;
    out.append(bytes, count);
    return true;
  });
  return is_whole ? out : "gone after " + std::to_string(out.size());
}

struct Received {
  std::string refusal, bytes;
};

Received received(std::string stream) {
  FileDescriptor memory;
  Received out;
  out.refusal = receive_memory(
      [&](void* to, std::size_t count) {
        if (stream.size() < count) return false;
        std::memcpy(to, stream.data(), count);
        stream.erase(0, count);
        return true;
      },
      memory);
  if (!memory) return out;
  out.bytes.resize(as_size(::lseek(memory.get(), 0, SEEK_END)));
  EXPECT_EQ(::pread(memory.get(), out.bytes.data(), out.bytes.size(), 0), std::ssize(out.bytes));
  return out;
}

std::string length_of(std::uint64_t bytes) {
  return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
}

SharedMemory patterned(std::int64_t bytes) {
  SharedMemory memory = SharedMemory::create("copied", bytes, false);
  for (std::int64_t i = 0; i < bytes; ++i) {
    memory.data()[i] = static_cast<std::byte>(i * 31 + i / 255);
  }
  return memory;
}

TEST(MemoryCopy, is_a_length_and_the_bytes_whatever_its_size) {
  constexpr std::int64_t piece = 1 << 20;
  for (const std::int64_t bytes : {std::int64_t{1}, piece - 1, piece, piece + 1, 2 * piece + 7}) {
    const SharedMemory memory = patterned(bytes);
    const std::string stream = sent(memory.fd());
    const std::string whole(reinterpret_cast<const char*>(memory.data()), as_size(bytes));
    ASSERT_EQ(stream.size(), as_size(8 + bytes));
    EXPECT_EQ(stream.substr(0, 8), length_of(static_cast<std::uint64_t>(bytes)));
    EXPECT_TRUE(stream.substr(8) == whole) << bytes;
    const Received back = received(stream);
    EXPECT_EQ(back.refusal, "");
    EXPECT_TRUE(back.bytes == whole) << bytes;
  }
  EXPECT_EQ(received(length_of(0)).refusal, "");
}

TEST(MemoryCopy, of_no_memory_or_to_nobody_is_not_sent) {
  EXPECT_EQ(sent(-1), "gone after 0");
  const SharedMemory memory = patterned((1 << 20) + 5);
  EXPECT_EQ(sent(memory.fd(), 0), "gone after 0");
  EXPECT_EQ(sent(memory.fd(), 2), "gone after " + std::to_string(8 + (1 << 20)));
}

TEST(MemoryCopy, that_is_cut_short_or_too_long_says_so) {
  EXPECT_EQ(received("1234567").refusal, "the length of the memory did not arrive");
  EXPECT_EQ(received(length_of(6) + "12345").refusal, "the memory did not arrive whole");
  EXPECT_EQ(received(length_of(6) + "12345").bytes, "") << "half of a memory is none";
  EXPECT_EQ(received(length_of((std::uint64_t{1} << 36) + 1)).refusal,
            "memory of 68719476737 bytes exceeds the limit of 68719476736");
  EXPECT_EQ(received(length_of(std::uint64_t{1} << 36)).refusal, "the memory did not arrive whole");
}

}  // namespace
}  // namespace halmark::protocol
