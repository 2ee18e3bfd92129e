// Energy of the machine's CPU packages, as the kernel's powercap zones count it (RAPL). Counters
// are of whole packages, whatever runs on them: shards that run at once share them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

class PackageEnergy {
 public:
  // /sys/class/powercap, or the folder that HALMARK_POWERCAP names.
  static std::filesystem::path root_of_machine();
  explicit PackageEnergy(const std::filesystem::path& root);

  // What all packages took since the last call, or since the construction; counters that wrapped
  // around once in between are unrolled. Nothing where there is none, or one cannot be read.
  std::optional<double> microjoules_since();
  // Why there is nothing; "" where there is.
  const std::string& reason() const { return reason_; }

 private:
  struct Zone {
    std::filesystem::path folder;
    double last_uj = 0, range_uj = 0;
  };
  std::vector<Zone> zones_;
  std::string reason_;
};

}  // namespace halmark
