#include "device.hpp"

#include <algorithm>

#include "stream.hpp"

namespace hm_opencl {
namespace {

constexpr cl_int platform_not_found = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the ICD loader
constexpr std::size_t least_flush_bytes = 16u << 20;

std::vector<cl::Platform> find_platforms(std::vector<std::string>& reasons) {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    if (error.err() != platform_not_found) {
      reasons.push_back("the OpenCL loader failed with error " + std::to_string(error.err()));
      return {};
    }
  }
  if (platforms.empty()) {
    reasons.emplace_back(
        "no OpenCL platform: no driver is registered with the loader "
        "(for CPUs: pocl-opencl-icd)");
  }
  return platforms;
}

std::int32_t kind_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return HM_DEVICE_GPU;
  if (type & CL_DEVICE_TYPE_CPU) return HM_DEVICE_CPU;
  return HM_DEVICE_OTHER;
}

// Names come from the driver with blanks around them and terminators inside.
std::string trimmed(std::string text) {
  std::erase(text, '\0');
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::vector<cl::Device> find_devices(std::vector<std::string>& reasons) {
  std::vector<cl::Device> found;
  for (const cl::Platform& platform : find_platforms(reasons)) {
    std::vector<cl::Device> devices;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error& error) {
      const std::string name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
      reasons.push_back("platform '" + name + "' offers no device (OpenCL error " +
                        std::to_string(error.err()) + ")");
      continue;
    }
    for (const cl::Device& device : devices) {
      const std::string name = trimmed(device.getInfo<CL_DEVICE_NAME>());
      if (!device.getInfo<CL_DEVICE_AVAILABLE>()) {
        reasons.push_back("device '" + name + "' is not available");
      } else if (!device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>()) {
        reasons.push_back("device '" + name + "' has no compiler");
      } else {
        found.push_back(device);
      }
    }
  }
  return found;
}

void describe(const cl::Device& device, std::uint32_t index, hm_device_info& info) {
  translated([&] {
    const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
    info.kind = kind_of(device.getInfo<CL_DEVICE_TYPE>());
    info.timer = HM_TIMER_DEVICE_EVENT;
    // No portable way to turn a driver's compile cache off.
    info.flags = HM_DEVICE_DRIVER_CACHE;
    if (device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>()) info.flags |= HM_DEVICE_UNIFIED_MEMORY;
    plug::copy_text(info.id, std::to_string(index));
    plug::copy_text(info.name, trimmed(device.getInfo<CL_DEVICE_NAME>()));
    plug::copy_text(info.driver, trimmed(platform.getInfo<CL_PLATFORM_NAME>()) + ' ' +
                                     trimmed(device.getInfo<CL_DRIVER_VERSION>()));
    info.memory_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
    info.cache_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>());
    info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    info.clock_hz_max = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>() * std::int64_t{1'000'000};
  });
}

OpenedDevice::OpenedDevice(const cl::Device& opened) : device(opened) {
  translated([&] {
    context = cl::Context(device);
    transfers = cl::CommandQueue(context, device);
    limits.work_group_items = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    limits.local_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
    limits.is_cpu = (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0;
    const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
    limits.has_fp16 = extensions.find("cl_khr_fp16") != std::string::npos;
    limits.has_fp64 = extensions.find("cl_khr_fp64") != std::string::npos;
  });
}

cl::Program& OpenedDevice::program(const std::string& source, const std::string& options) {
  const std::string key = options + '\n' + source;
  const auto known = programs_.find(key);
  if (known != programs_.end()) return known->second;
  return translated([&]() -> cl::Program& {
    cl::Program made(context, source);
    try {
      made.build(device, options.c_str());
    } catch (const cl::BuildError& error) {
      const auto log = error.getBuildLog();
      throw plug::failure(HM_COMPILE_FAILED,
                          "with options '" + options +
                              "': " + (log.empty() ? "no output" : trimmed(log.front().second)),
                          error.err());
    }
    return programs_.emplace(key, std::move(made)).first->second;
  });
}

std::size_t OpenedDevice::flush_bytes() const {
  const auto cache_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  // A fill wants whole patterns.
  return std::max<std::size_t>(least_flush_bytes, 2 * cache_bytes) / 64 * 64;
}

void OpenedDevice::wait_for_streams() {
  for (Stream* stream : streams) stream->wait();
}

Buffer::Buffer(OpenedDevice& device, std::uint64_t bytes, std::uint64_t alignment)
    : device_(device), bytes_(bytes) {
  translated([&] {
    const std::uint64_t offered = device.device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
    if (alignment > std::max<std::uint64_t>(offered, 1)) {
      throw plug::failure(HM_UNSUPPORTED, "alignment " + std::to_string(alignment) +
                                              ", this device aligns buffers to " +
                                              std::to_string(offered) + " bytes");
    }
    const auto largest = device.device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
    if (bytes > largest) {
      throw plug::failure(HM_OUT_OF_MEMORY, std::to_string(bytes) +
                                                " bytes; the largest buffer of this device is " +
                                                std::to_string(largest));
    }
    memory_ = cl::Buffer(device.context, CL_MEM_READ_WRITE, std::max<std::uint64_t>(bytes, 1));
  });
}

void Buffer::write(std::uint64_t offset, const void* source, std::uint64_t bytes) {
  if (bytes == 0) return;
  device_.wait_for_streams();
  translated(
      [&] { device_.transfers.enqueueWriteBuffer(memory_, CL_TRUE, offset, bytes, source); });
}

void Buffer::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  if (bytes == 0) return;
  device_.wait_for_streams();
  translated([&] { device_.transfers.enqueueReadBuffer(memory_, CL_TRUE, offset, bytes, target); });
}

void Buffer::fill(Stream& stream, std::uint32_t pattern) {
  const std::uint64_t whole = bytes_ / sizeof pattern * sizeof pattern;
  if (whole > 0) {
    stream.submit(1, [&](cl::CommandQueue& queue, cl::Event* event, std::uint64_t) {
      queue.enqueueFillBuffer(memory_, pattern, 0, whole, nullptr, event);
    });
  }
  stream.submit(bytes_ - whole, [&](cl::CommandQueue& queue, cl::Event* event, std::uint64_t i) {
    const auto byte = static_cast<cl_uchar>(pattern >> (8 * i));
    queue.enqueueFillBuffer(memory_, byte, whole + i, 1, nullptr, event);
  });
}

}  // namespace hm_opencl
