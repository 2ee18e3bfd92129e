// Memory and storage of this machine as tiers: how long one access takes, how many bytes flow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace halmark::links {

struct TierProbe {
  double latency_p50_s = 0, latency_p99_s = 0;  // of one access behind the other
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
  std::int64_t bytes = 0;  // of the tier
  std::string how;         // "pointer chase over 256 MiB, ..."
};

// One thread's dependent loads, each of another page and cache line of `working_set_bytes`; p99 of
// means over 4096 loads. Rates: the best of three copies of half of it to the other half by one
// thread, which all cores together may exceed.
TierProbe probe_memory(std::int64_t working_set_bytes = std::int64_t{256} << 20);

// A file in `folder` that goes again: written and read past the page cache (O_DIRECT) in blocks of
// 8 MiB, then random reads of 4 KiB. Throws Error (exit 5) naming the folder where that cannot be,
// or where less than twice the file is free.
TierProbe probe_storage(const std::string& folder,
                        std::int64_t file_bytes = std::int64_t{512} << 20,
                        const std::function<bool()>& should_stop = {});

}  // namespace halmark::links
