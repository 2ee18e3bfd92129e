/* A complete plugin in C11 with one op, copy: what the contract asks for when no sugar is used. */
#include <halmark_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hm_plugin {
  const hm_host* host;
};
struct hm_device {
  hm_plugin* plugin;
};
struct hm_buffer {
  void* data;
  uint64_t bytes;
  int owned;
};
struct hm_stream {
  hm_device* device;
};
struct hm_prepared {
  uint64_t bytes;
};

static int32_t fail(hm_error* error, int32_t code, const char* text) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", text);
  return code;
}

/* Copies no more than the host's struct holds and leaves its struct_size as it is. */
static void give(void* out, void* value, size_t bytes) {
  uint32_t known;
  memcpy(&known, out, sizeof known);
  memcpy(value, &known, sizeof known);
  memcpy(out, value, known < bytes ? known : bytes);
}

static int32_t create(const hm_host* host, hm_plugin** plugin, hm_error* error) {
  *plugin = malloc(sizeof **plugin);
  if (*plugin == NULL) return fail(error, HM_OUT_OF_MEMORY, "plugin");
  (*plugin)->host = host;
  return HM_OK;
}
static void destroy(hm_plugin* plugin) { free(plugin); }

static int32_t device_count(hm_plugin* plugin, uint32_t* count, hm_error* error) {
  (void)plugin, (void)error;
  *count = 1;
  return HM_OK;
}
static int32_t device_describe(hm_plugin* plugin, uint32_t index, hm_device_info* out,
                               hm_error* error) {
  (void)plugin;
  if (index != 0) return fail(error, HM_INVALID_ARGUMENT, "there is one device");
  hm_device_info info = {.kind = HM_DEVICE_CPU,
                         .timer = HM_TIMER_HOST_CLOCK,
                         .flags = HM_DEVICE_SYNCHRONOUS,
                         .id = "0",
                         .name = "host memory"};
  give(out, &info, sizeof info);
  return HM_OK;
}
static int32_t device_open(hm_plugin* plugin, uint32_t index, const hm_config* options,
                           hm_device** device, hm_error* error) {
  if (index != 0) return fail(error, HM_INVALID_ARGUMENT, "there is one device");
  for (uint32_t i = 0; options != NULL && i < options->count; ++i) {
    if (strcmp(options->params[i].name, "threads") != 0) {
      return fail(error, HM_UNSUPPORTED, options->params[i].name);
    }
  }
  *device = malloc(sizeof **device);
  if (*device == NULL) return fail(error, HM_OUT_OF_MEMORY, "device");
  (*device)->plugin = plugin;
  return HM_OK;
}
static void device_close(hm_device* device) { free(device); }

static int32_t memory_create(hm_device* device, uint64_t bytes, uint64_t alignment, int32_t kind,
                             hm_buffer** buffer, hm_error* error) {
  (void)device, (void)kind;
  const uint64_t unit = alignment < 64 ? 64 : alignment;
  if (bytes > UINT64_MAX / 2) return fail(error, HM_OUT_OF_MEMORY, "buffer");
  *buffer = malloc(sizeof **buffer);
  void* data = aligned_alloc(unit, bytes == 0 ? unit : (bytes + unit - 1) / unit * unit);
  if (*buffer == NULL || data == NULL) {
    free(*buffer);
    free(data);
    return fail(error, HM_OUT_OF_MEMORY, "buffer");
  }
  **buffer = (hm_buffer){.data = data, .bytes = bytes, .owned = 1};
  return HM_OK;
}
static int32_t memory_wrap(hm_device* device, void* address, uint64_t bytes, hm_buffer** buffer,
                           hm_error* error) {
  (void)device;
  *buffer = malloc(sizeof **buffer);
  if (*buffer == NULL) return fail(error, HM_OUT_OF_MEMORY, "buffer");
  **buffer = (hm_buffer){.data = address, .bytes = bytes, .owned = 0};
  return HM_OK;
}
static void memory_destroy(hm_buffer* buffer) {
  if (buffer != NULL && buffer->owned) free(buffer->data);
  free(buffer);
}
static int inside(const hm_buffer* buffer, uint64_t offset, uint64_t bytes) {
  return offset <= buffer->bytes && bytes <= buffer->bytes - offset;
}
static int32_t memory_write(hm_buffer* buffer, uint64_t offset, const void* source, uint64_t bytes,
                            hm_error* error) {
  if (!inside(buffer, offset, bytes)) return fail(error, HM_INVALID_ARGUMENT, "out of the buffer");
  memcpy((char*)buffer->data + offset, source, bytes);
  return HM_OK;
}
static int32_t memory_read(hm_buffer* buffer, uint64_t offset, void* target, uint64_t bytes,
                           hm_error* error) {
  if (!inside(buffer, offset, bytes)) return fail(error, HM_INVALID_ARGUMENT, "out of the buffer");
  memcpy(target, (const char*)buffer->data + offset, bytes);
  return HM_OK;
}

static int32_t stream_create(hm_device* device, hm_stream** stream, hm_error* error) {
  *stream = malloc(sizeof **stream);
  if (*stream == NULL) return fail(error, HM_OUT_OF_MEMORY, "stream");
  (*stream)->device = device;
  return HM_OK;
}
static void stream_destroy(hm_stream* stream) { free(stream); }
static int32_t stream_wait(hm_stream* stream, hm_error* error) {
  (void)stream, (void)error;
  return HM_OK;
}

static int32_t kernel_count(hm_plugin* plugin, uint32_t* count, hm_error* error) {
  (void)plugin, (void)error;
  *count = 1;
  return HM_OK;
}
static int32_t kernel_describe(hm_plugin* plugin, uint32_t kernel, hm_kernel_info* out,
                               hm_error* error) {
  (void)plugin;
  if (kernel != 0) return fail(error, HM_INVALID_ARGUMENT, "there is one kernel");
  hm_kernel_info info = {.name = "copy", .op = "copy"};
  give(out, &info, sizeof info);
  return HM_OK;
}
static int32_t domain_count(hm_device* device, uint32_t kernel, const hm_problem* problem,
                            uint32_t* count, hm_error* error) {
  (void)device, (void)kernel, (void)problem, (void)error;
  *count = 0;
  return HM_OK;
}
static int32_t domain(hm_device* device, uint32_t kernel, const hm_problem* problem, uint32_t index,
                      hm_domain* out, hm_error* error) {
  (void)device, (void)kernel, (void)problem, (void)index, (void)out;
  return fail(error, HM_INVALID_ARGUMENT, "copy has no domains");
}
static int32_t supports(hm_device* device, uint32_t kernel, const hm_problem* problem,
                        const hm_config* config, hm_error* error) {
  (void)device;
  if (kernel != 0) return fail(error, HM_INVALID_ARGUMENT, "there is one kernel");
  if (config != NULL && config->count != 0) return fail(error, HM_UNSUPPORTED, "no such parameter");
  int has_bytes = 0;
  for (uint32_t i = 0; i < problem->count; ++i) {
    if (strcmp(problem->params[i].name, "bytes") != 0) {
      return fail(error, HM_UNSUPPORTED, problem->params[i].name);
    }
    has_bytes = problem->params[i].value > 0;
  }
  return has_bytes ? HM_OK : fail(error, HM_UNSUPPORTED, "bytes is missing or below 1");
}
static int32_t prepare(hm_device* device, uint32_t kernel, const hm_problem* problem,
                       const hm_config* config, hm_comm* comm, hm_prepared** prepared,
                       hm_error* error) {
  (void)comm;
  const int32_t status = supports(device, kernel, problem, config, error);
  if (status != HM_OK) return status;
  *prepared = malloc(sizeof **prepared);
  if (*prepared == NULL) return fail(error, HM_OUT_OF_MEMORY, "prepared");
  (*prepared)->bytes = (uint64_t)problem->params[0].value;
  return HM_OK;
}
static void release(hm_prepared* prepared) { free(prepared); }
static int32_t info(hm_prepared* prepared, hm_prepared_info* out, hm_error* error) {
  (void)prepared, (void)error;
  hm_prepared_info value = {
      .operand_count = 2, .launches_per_execution = 1, .implementation = "memcpy", .library = "c"};
  give(out, &value, sizeof value);
  return HM_OK;
}
static int32_t operand(hm_prepared* prepared, uint32_t index, hm_operand* out, hm_error* error) {
  if (index > 1) return fail(error, HM_INVALID_ARGUMENT, "copy has two operands");
  hm_operand value = {.role = index == 0 ? HM_ROLE_INPUT : HM_ROLE_OUTPUT,
                      .dtype = HM_DTYPE_U8,
                      .rank = 1,
                      .dims = {(int64_t)prepared->bytes},
                      .strides = {1},
                      .bytes = prepared->bytes,
                      .alignment = 64,
                      .layout = "a"};
  strcpy(value.name, index == 0 ? "src" : "dst");
  give(out, &value, sizeof value);
  return HM_OK;
}
static int32_t enqueue(hm_prepared* prepared, hm_stream* stream, const hm_launch* launch,
                       hm_error* error) {
  (void)stream, (void)error;
  for (uint64_t i = 0; i < launch->repeat; ++i) {
    const hm_arguments* set = &launch->sets[i % launch->set_count];
    memcpy(set->buffers[1]->data, set->buffers[0]->data, prepared->bytes);
  }
  return HM_OK;
}

static const hm_device_api device_api = {.struct_size = sizeof(hm_device_api),
                                         .count = device_count,
                                         .describe = device_describe,
                                         .open = device_open,
                                         .close = device_close};
static const hm_memory_api memory_api = {.struct_size = sizeof(hm_memory_api),
                                         .create = memory_create,
                                         .destroy = memory_destroy,
                                         .write = memory_write,
                                         .read = memory_read,
                                         .wrap = memory_wrap};
static const hm_stream_api stream_api = {.struct_size = sizeof(hm_stream_api),
                                         .create = stream_create,
                                         .destroy = stream_destroy,
                                         .wait = stream_wait};
static const hm_kernel_api kernel_api = {.struct_size = sizeof(hm_kernel_api),
                                         .count = kernel_count,
                                         .describe = kernel_describe,
                                         .domain_count = domain_count,
                                         .domain = domain,
                                         .supports = supports,
                                         .prepare = prepare,
                                         .release = release,
                                         .info = info,
                                         .operand = operand,
                                         .enqueue = enqueue};
static const hm_plugin_api api = {.struct_size = sizeof(hm_plugin_api),
                                  .abi_version = HM_ABI_VERSION,
                                  .name = "c",
                                  .version = "1.0",
                                  .build = "C11",
                                  .create = create,
                                  .destroy = destroy,
                                  .device = &device_api,
                                  .memory = &memory_api,
                                  .stream = &stream_api,
                                  .kernel = &kernel_api};

uint32_t hm_abi_version(void) { return HM_ABI_VERSION; }
const hm_plugin_api* hm_plugin_entry(void) { return &api; }
