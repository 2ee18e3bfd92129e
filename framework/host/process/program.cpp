#include "host/process/program.hpp"

#include <filesystem>

#include "core/text/error.hpp"

namespace halmark {

std::string program_beside(const std::string& name) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) throw unfit("cannot find the running program in /proc");
  const auto beside = self.parent_path() / name;
  if (std::filesystem::exists(beside, failure)) return beside.string();
  // Test programs lie in tests/ next to bin/.
  const auto in_bin = self.parent_path().parent_path() / "bin" / name;
  if (std::filesystem::exists(in_bin, failure)) return in_bin.string();
  return beside.string();
}

}  // namespace halmark
