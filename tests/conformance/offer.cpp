// What a plugin offers on each instruction-set path, against lists in offers/ that are reviewed
// like code: a kernel that is no longer offered, or is now computed by another implementation,
// fails. HALMARK_UPDATE_GOLDEN=1 writes the list of the path anew. Kernels in optional.txt, whose
// library a machine may have or not, are in no list.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "check.hpp"
#include "core/input/places.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

namespace fs = std::filesystem;

// In ascending order, as the device states its best and the option "isa" numbers them.
constexpr std::array paths{
    "", "avx2", "avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_amx"};

std::int64_t best_path(const DeviceUnderTest& device) {
  return std::ranges::find(paths, device.description.isa) - paths.begin();
}

std::int64_t ceiling(const DeviceUnderTest& device) {
  const auto isa = device.options.params.find("isa");
  return isa ? *isa : static_cast<std::int64_t>(paths.size());
}

// op, dtypes, kernel; what computes it; of which library.
struct Offer {
  std::string what, implementation, library;
  std::string line() const { return what + " | " + implementation + " | " + library; }
};

// Another version of a foreign library may compute the same kernel otherwise.
bool is_same(const Offer& listed, const Offer& offered) {
  if (listed.what != offered.what) return false;
  const bool is_other_version =
      listed.library != offered.library && !listed.library.starts_with("halmark ");
  return is_other_version || listed.implementation == offered.implementation;
}

std::set<std::string> optional_kernels(const fs::path& folder) {
  std::ifstream in(folder / "optional.txt");
  return {std::istream_iterator<std::string>(in), {}};
}

// Of the first problem that each kernel takes.
std::vector<Offer> offers_of(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                             const std::set<std::string>& left_out) {
  std::vector<Offer> out;
  for (const OpUnderTest& op : device.ops) {
    if (op.is_collective) continue;
    for (const Combination& combination : op.combinations) {
      for (const std::string& kernel : op.kernels) {
        if (left_out.contains(kernel)) continue;
        for (const Params& params : combination.problems) {
          Worker* worker = open_worker(plugin, device);
          if (worker == nullptr) return out;
          const Problem problem{std::string(op.contract->name()), params};
          const auto answer = worker->supports(kernel, problem, {Config{}});
          if (!answer || answer->status.empty() || answer->status.front() != 0) continue;
          const auto request = stage_request(*op.contract, params, {.kernel = kernel});
          const auto staged = stage(*worker, request);
          if (!staged) break;
          const Implementation& by = staged->implementation;
          out.push_back({std::string(op.contract->name()) + ' ' + combination.dtypes + ' ' + kernel,
                         by.name,
                         by.library + (by.library.empty() ? "" : " " + by.library_version)});
          worker->drop(request.id);
          break;
        }
      }
    }
  }
  return out;
}

std::vector<Offer> read_list(const fs::path& file) {
  std::vector<Offer> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 3);
    if (line.starts_with('#') || second == std::string::npos) continue;
    out.push_back({line.substr(0, first), line.substr(first + 3, second - first - 3),
                   line.substr(second + 3)});
  }
  return out;
}

void write_list(const fs::path& file, const std::vector<Offer>& offers) {
  std::ofstream out(file);
  out << "# op, dtypes, kernel | implementation | library\n";
  for (const Offer& offer : offers) out << offer.line() << '\n';
}

void compare(const PluginUnderTest& plugin, const DeviceUnderTest& device, const fs::path& file) {
  const std::vector<Offer> offered =
      offers_of(plugin, device, optional_kernels(file.parent_path()));
  ASSERT_FALSE(offered.empty());
  if (std::getenv("HALMARK_UPDATE_GOLDEN") != nullptr) return write_list(file, offered);
  if (!fs::exists(file)) {
    GTEST_SKIP() << "no list of this path yet; HALMARK_UPDATE_GOLDEN=1 writes " << file;
  }
  const std::vector<Offer> listed = read_list(file);
  for (const Offer& offer : listed) {
    const auto same = [&](const Offer& o) { return is_same(offer, o); };
    EXPECT_TRUE(std::ranges::any_of(offered, same)) << "no longer offered: " << offer.line();
  }
  for (const Offer& offer : offered) {
    const auto same = [&](const Offer& o) { return is_same(o, offer); };
    EXPECT_TRUE(std::ranges::any_of(listed, same)) << "not in " << file << ": " << offer.line();
  }
}

}  // namespace

std::string path_of(const DeviceUnderTest& device) {
  const std::int64_t best = best_path(device);
  if (best == static_cast<std::int64_t>(paths.size())) return device.description.isa;
  const std::string path = paths[static_cast<std::size_t>(std::min(best, ceiling(device)))];
  return path.empty() ? "generic" : path;
}

bool is_lowered(const DeviceUnderTest& device) { return ceiling(device) < best_path(device); }

void register_offer(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  const fs::path shared = program_path().parent_path().parent_path() / "share/halmark";
  const fs::path folder = shared / "offers" / plugin.label;
  if (!fs::exists(folder)) return;  // a plugin outside this tree, or this suite installed
  add_test(plugin, device, "offers_what_is_listed",
           [&plugin, &device, file = folder / (path_of(device) + ".txt")] {
             compare(plugin, device, file);
           });
}

}  // namespace halmark::conformance
