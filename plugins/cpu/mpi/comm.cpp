#include "comm.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "kernel.hpp"

namespace hm_cpu {
namespace {

// A group of one: what it would exchange it has.
class Alone : public Comm {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string library_version() const override { return {}; }
  void all_reduce(const void* source, void* target, std::int64_t count,
                  std::int32_t dtype) const override {
    copy(source, target, count * element_bytes(dtype));
  }
  void reduce_scatter(const void* source, void* target, std::int64_t count,
                      std::int32_t dtype) const override {
    copy(source, target, count * element_bytes(dtype));
  }
  void all_gather(const void* source, void* target, std::int64_t bytes) const override {
    copy(source, target, bytes);
  }
  void all_to_all(const void* source, void* target, std::int64_t bytes) const override {
    copy(source, target, bytes);
  }
  void broadcast(const void* source, void* target, std::int64_t bytes) const override {
    copy(source, target, bytes);
  }
  void shift(const void* source, void* target, std::int64_t bytes) const override {
    copy(source, target, bytes);
  }

 private:
  static void copy(const void* source, void* target, std::int64_t bytes) {
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
  }
};

// Found by the path that halmark's programs carry, as its other modules are. Never closed: MPI owns
// threads and exit handlers.
MakeMpiComm* mpi_module() {
  void* const handle = ::dlopen("halmark_cpu_mpi.so", RTLD_NOW | RTLD_LOCAL);
  void* const made = handle == nullptr ? nullptr : ::dlsym(handle, make_mpi_comm_symbol);
  if (made == nullptr) {
    throw halmark::plugin::failure(
        HM_INTERNAL,
        "MPI cannot be opened (apt-get install openmpi-bin): " + std::string(dlerror()));
  }
  return reinterpret_cast<MakeMpiComm*>(made);
}

}  // namespace

std::string Comm::own_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* rank = std::getenv(name)) return rank;
  }
  return {};
}

std::unique_ptr<Comm> make_comm(std::string_view token, std::uint32_t rank, std::uint32_t size,
                                bool has_threads) {
  if (rank >= size) invalid("rank " + std::to_string(rank) + " of " + std::to_string(size));
  if (size == 1) return std::make_unique<Alone>();
  static MakeMpiComm* const make = mpi_module();
  return std::unique_ptr<Comm>(make(token, rank, size, has_threads));
}

}  // namespace hm_cpu
