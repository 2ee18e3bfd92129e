#include "plan/asked_kernels.hpp"

namespace halmark {

std::vector<AskedKernels> read_asked_kernels(const TomlTable& table, const char* key) {
  std::vector<AskedKernels> out;
  for (const TomlTable& one : table.tables(key)) {
    out.push_back({.op = one.string("op"),
                   .params = one.string_or("params", ""),
                   .dtypes = one.strings("dtypes"),
                   .where = one.where("op")});
  }
  return out;
}

}  // namespace halmark
