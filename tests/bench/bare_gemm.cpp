#include "bare_gemm.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory_resource>
#include <oneapi/dnnl/dnnl.hpp>

#include "child.hpp"
#include "core/text/error.hpp"
#include "host/transport.hpp"

namespace halmark::bench {
namespace {

using dnnl::matmul;
using dnnl::memory;

bool read_all(int fd, void* target, std::size_t bytes) {
  auto* at = static_cast<char*>(target);
  while (bytes > 0) {
    const ssize_t count = ::read(fd, at, bytes);
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int fd, const void* source, std::size_t bytes) {
  const auto* at = static_cast<const char*>(source);
  while (bytes > 0) {
    const ssize_t count = ::write(fd, at, bytes);
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// Page-aligned like the worker's operands.
struct Buffer {
  explicit Buffer(std::size_t size) : bytes(size), data(resource()->allocate(size, 4096)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { resource()->deallocate(data, bytes, 4096); }
  static std::pmr::memory_resource* resource() { return std::pmr::new_delete_resource(); }
  std::size_t bytes;
  void* data;
};

matmul::primitive_desc describe(const dnnl::engine& engine, const BareRequest& request) {
  constexpr auto f32 = memory::data_type::f32;
  const memory::desc src({request.m, request.k}, f32, memory::format_tag::ab);
  const memory::desc weights({request.k, request.n}, f32, memory::format_tag::any);
  const memory::desc dst({request.m, request.n}, f32, memory::format_tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, src, weights, dst, attributes};
#else
  return {matmul::desc(src, weights, dst), attributes, engine};
#endif
}

std::vector<double> time_calls(const BareRequest& request) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const matmul::primitive_desc described = describe(engine, request);
  const matmul primitive(described);
  const Buffer src_bytes(described.src_desc().get_size());
  const Buffer weight_bytes(described.weights_desc().get_size());
  const Buffer dst_bytes(described.dst_desc().get_size());
  const Buffer scratch_bytes(std::max<std::size_t>(1, described.scratchpad_desc().get_size()));
  for (const Buffer* buffer : {&src_bytes, &weight_bytes, &dst_bytes}) {
    auto* values = static_cast<float*>(buffer->data);
    for (std::size_t i = 0; i < buffer->bytes / sizeof(float); ++i) {
      values[i] = static_cast<float>(i % 17) / 16.0F - 0.5F;
    }
  }
  const memory src(described.src_desc(), engine, src_bytes.data);
  const memory weights(described.weights_desc(), engine, weight_bytes.data);
  const memory dst(described.dst_desc(), engine, dst_bytes.data);
  const memory scratch(described.scratchpad_desc(), engine, scratch_bytes.data);
  const std::array<dnnl_exec_arg_t, 4> arguments = {{{DNNL_ARG_SRC, src.get()},
                                                     {DNNL_ARG_WEIGHTS, weights.get()},
                                                     {DNNL_ARG_DST, dst.get()},
                                                     {DNNL_ARG_SCRATCHPAD, scratch.get()}}};
  const auto call = [&] {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive.get(), stream.get(), 4, arguments.data()),
        "matmul did not execute");
    stream.wait();
  };
  for (std::int64_t i = 0; i < request.warm_up; ++i) call();
  std::vector<double> out(static_cast<std::size_t>(request.calls));
  for (double& ns : out) {
    const double begin_ns = monotonic_ns();
    call();
    ns = monotonic_ns() - begin_ns;
  }
  return out;
}

}  // namespace

BareGemm::BareGemm(const CpuSet& cpus) {
  auto [ours, theirs] = protocol::socket_pair();
  socket_ = std::move(ours);
  process_ =
      ContainedProcess::start({.program = std::filesystem::read_symlink("/proc/self/exe").string(),
                               .arguments = {bare_argument},
                               .environment = worker_environment(cpus, {}),
                               .cpus = cpus,
                               .protocol_fd = theirs.get()});
}

std::vector<double> BareGemm::time(const BareRequest& request) {
  std::vector<double> out(static_cast<std::size_t>(request.calls));
  if (!write_all(socket_.get(), &request, sizeof request) ||
      !read_all(socket_.get(), out.data(), out.size() * sizeof(double))) {
    throw Error(ExitCode::error, "the bare loop ended: " + process_->log_tail());
  }
  return out;
}

int serve_bare_gemm() {
  BareRequest request;
  while (read_all(protocol::worker_descriptor, &request, sizeof request)) {
    const std::vector<double> times = time_calls(request);
    if (!write_all(protocol::worker_descriptor, times.data(), times.size() * sizeof(double))) {
      break;
    }
  }
  return 0;
}

}  // namespace halmark::bench
