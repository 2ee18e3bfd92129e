// A tree of files that stands for a machine: what is below / of a real one is below its root.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/scratch_folder.hpp"

namespace halmark::test {

class MachineTree : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << '\n';
  }
  const ScratchFolder folder_;
  const std::string root_ = folder_.path();
};

}  // namespace halmark::test
