// The bytes of a memfd over a stream: what a rank on another node gives in the place of the
// descriptor. A length of 64 bits, then that many bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "host/process/file_descriptor.hpp"

namespace halmark::protocol {

// False when the peer is gone or `fd` is no memory.
using WriteAll = std::function<bool(const char* bytes, std::size_t count)>;
bool send_memory(int fd, const WriteAll& write);

// Makes a memfd as the bytes arrive, so that a length that is not true takes no memory. Gives why
// there is none; "" = `memory` holds it.
using ReadAll = std::function<bool(void* to, std::size_t count)>;
std::string receive_memory(const ReadAll& read, FileDescriptor& memory);

}  // namespace halmark::protocol
