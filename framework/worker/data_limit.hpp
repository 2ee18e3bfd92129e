// How much memory a plugin may take for a kernel beside the kernel's tensors. The limit of the
// process is a share of the machine, which a faulty kernel would fill before it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace halmark::worker {

// By the data segment, as in ContainedProcess; the limit of the process stays above it.
class DataLimit {
 public:
  static constexpr std::int64_t factor = 8;  // copies of the tensors: widened, converted, packed
  static constexpr std::int64_t base_bytes = 256 << 20;
  static constexpr std::int64_t first_bytes = std::int64_t{1} << 30;  // of a discarded call

  // Of devices that compute on the host's CPU: runtimes of others map far more than they use. Never
  // in a sanitizer's build.
  explicit DataLimit(bool is_of_cpu);
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;
  ~DataLimit() { lift(); }

  // discarded: the first of a dtype, in which a library starts its threads and translates its code;
  // warm: behind one; cold: there was none, so that stacks of threads may still come.
  enum class Call { discarded, warm, cold };
  // For a kernel that is staged next, on top of what the process holds now.
  void allow(std::int64_t tensor_bytes, Call call);
  // While the host itself takes memory, of which the process may keep some.
  void without(const std::function<void()>& host);
  void lift() const;
  // "at most 404 MiB: 148 MiB held before, 8 x 0.1 MiB of tensors, 256 MiB"; "" where nothing is
  // limited.
  const std::string& text() const { return text_; }

 private:
  void set(std::int64_t bytes);

  bool is_on_;
  std::int64_t bytes_ = 0;     // 0: lifted
  bool is_discarded_ = false;  // it is that of a discarded call, which ends with the call
  std::string text_;
};

// Memory that the host maps itself counts as well: as much more, while a limit is set.
void raise_data_limit(std::int64_t bytes);
// What counts, of this process; 0 where that cannot be read.
std::int64_t data_bytes();

}  // namespace halmark::worker
