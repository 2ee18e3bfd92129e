// A kernel's source as a plugin: for C and C++ a generated plugin around it, for OpenCL and CUDA a
// copy of that backend's plugin with the kernel behind its end, so that memory, streams, events and
// clocks are those that every other kernel of the device has.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "judge/compiler.hpp"
#include "judge/entry.hpp"

namespace halmark::judge {

struct Source {
  std::string path;  // as the user named it: the compiler's messages have it
  std::string name;  // of the file
  std::string text;
  Language language = Language::cpp;
};
// Throws Error (exit 2) for what cannot be read or is larger than 1 MiB, or has another ending.
Source read_source(const std::string& path);

// The backend that measures it: cpu, opencl, cuda.
const char* backend_of(Language language);

struct BuildRequest {
  std::string folder;                // exists, and belongs to the user
  std::string machinery_path;        // OpenCL, CUDA: the plugin that is copied
  std::string architecture;          // CUDA: "sm_90", as the device says it
  std::vector<std::string> options;  // of the compiler, behind its own
  CompileLimits limits;
};

struct Built {
  std::string plugin_path;
  std::string compiler;  // and its options; "" where the device's driver compiles
  double seconds = 0;
};

// Throws Error (exit 5) where a compiler is absent, naming what to install. What is wrong with the
// source is a failure. All problems are of one op, complete and of the same types.
Result<Built, BuildFailure> build_plugin(const Source& source, std::span<const Problem> problems,
                                         const BuildRequest& request);

}  // namespace halmark::judge
