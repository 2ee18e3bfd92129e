/* The Halmark plugin contract, version 1.0: C11, plain layout, append-only.
 *
 * A plugin is one shared library that drives one kind of device. It enumerates, allocates, runs and
 * timestamps. The host owns inputs, FLOP and byte counts, correctness, warm-up, cache policy,
 * sample counts, peaks and verdicts. Exactly two symbols are exported: hm_abi_version and
 * hm_plugin_entry.
 *
 * Rules that hold for every entry unless it says otherwise:
 *  - returns an hm_status and takes hm_error* last; the host clears the error before the call;
 *  - strings and arrays passed in are valid for the call only; copy to keep;
 *  - out-structs carry struct_size set by the host; the plugin writes at most that many bytes;
 *  - no exception, longjmp or exit crosses the seam; nothing is written to stdin or stdout;
 *  - one thread drives one device; calls on one device never overlap;
 *  - children (stream, buffer, event, prepared, comm) are destroyed before their device. */
#ifndef HALMARK_PLUGIN_H
#define HALMARK_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HM_ABI_MAJOR 1u
#define HM_ABI_MINOR 0u
#define HM_ABI_VERSION ((HM_ABI_MAJOR << 16) | HM_ABI_MINOR)

#define HM_NAME_MAX 64
#define HM_TEXT_MAX 256
#define HM_MESSAGE_MAX 512
#define HM_RANK_MAX 8
#define HM_TOKEN_MAX 256

/* True when `table` exists, `field` lies inside its struct_size and is not NULL. */
#define HM_FIELD_END(t, f) ((size_t)((const char*)&(t)->f - (const char*)(t)) + sizeof((t)->f))
#define HM_HAS(t, f) ((t) != NULL && (t)->struct_size >= HM_FIELD_END(t, f) && (t)->f != NULL)

/* Status codes. Unknown codes read as HM_INTERNAL. */
#define HM_OK 0
#define HM_UNSUPPORTED 1      /* a skip, with its reason in hm_error; never a failure */
#define HM_INVALID_ARGUMENT 2 /* the host broke this contract */
#define HM_OUT_OF_MEMORY 3
#define HM_COMPILE_FAILED 4
#define HM_LAUNCH_FAILED 5
#define HM_DEVICE_LOST 6 /* the host replaces the worker */
#define HM_INTERNAL 7

/* Data types: append-only numbers, never reused; 0 is invalid. Sub-byte elements pack along the
 * innermost dimension, first element in the low bits; rows start on a byte. */
#define HM_DTYPE_F64 1
#define HM_DTYPE_F32 2
#define HM_DTYPE_TF32 3 /* compute only */
#define HM_DTYPE_F16 4
#define HM_DTYPE_BF16 5
#define HM_DTYPE_F8_E4M3FN 6
#define HM_DTYPE_F8_E5M2 7
#define HM_DTYPE_F8_E4M3FNUZ 8
#define HM_DTYPE_F8_E5M2FNUZ 9
#define HM_DTYPE_F8_E8M0 10
#define HM_DTYPE_F6_E3M2 11
#define HM_DTYPE_F6_E2M3 12
#define HM_DTYPE_F4_E2M1 13
#define HM_DTYPE_S64 14
#define HM_DTYPE_S32 15
#define HM_DTYPE_S16 16
#define HM_DTYPE_S8 17
#define HM_DTYPE_S2 18
#define HM_DTYPE_S4 19
#define HM_DTYPE_U64 20
#define HM_DTYPE_U32 21
#define HM_DTYPE_U16 22
#define HM_DTYPE_U8 23
#define HM_DTYPE_U4 24
#define HM_DTYPE_U1 25
#define HM_DTYPE_C64 26  /* 2 x f32 */
#define HM_DTYPE_C128 27 /* 2 x f64 */

/* Opaque objects. State hangs off hm_plugin; a plugin has no mutable globals. */
typedef struct hm_plugin hm_plugin;
typedef struct hm_device hm_device;
typedef struct hm_buffer hm_buffer;
typedef struct hm_stream hm_stream;
typedef struct hm_event hm_event;
typedef struct hm_prepared hm_prepared;
typedef struct hm_comm hm_comm;

/* Host-owned; `message` is always terminated by the host before and read bounded after the call. */
typedef struct hm_error {
  uint32_t struct_size;
  int32_t code;
  int64_t vendor_code;
  char message[HM_MESSAGE_MAX];
} hm_error;

#define HM_LOG_DEBUG 0
#define HM_LOG_INFO 1
#define HM_LOG_WARNING 2
#define HM_LOG_ERROR 3

/* What the host offers. Lives until hm_plugin_api.destroy returns. */
typedef struct hm_host {
  uint32_t struct_size;
  uint32_t abi_version;
  void* context;
  void (*log)(void* context, int32_t level, const char* text); /* any thread; copies the text */
  const char* cache_dir; /* folder for compile caches; "" = keep nothing */
} hm_host;

/* FROZEN: array elements can never grow (their stride would change). */
typedef struct hm_param {
  const char* name; /* snake_case, unit last */
  int64_t value;
} hm_param;

/* Parameters are sorted by name and unique. A plugin refuses an unknown name (HM_UNSUPPORTED).
 * Which ops there are, the parameters of each with their ranges, and which dtypes they take
 * (parameters that end in "dtype" are HM_DTYPE_* numbers) is written per op in
 * kernels/<op>/<op>.cpp and listed in kernels/README.md: the host sends every parameter, defaults
 * filled in. A dtype that a kernel does not have is HM_UNSUPPORTED with a reason, never another
 * dtype. */
typedef struct hm_problem {
  uint32_t struct_size;
  uint32_t count;
  const char* op;
  const hm_param* params;
} hm_problem;

/* What a search may change; never mixed with the problem. */
typedef struct hm_config {
  uint32_t struct_size;
  uint32_t count;
  const hm_param* params;
} hm_config;

/* ---- device ------------------------------------------------------------------------------- */

#define HM_DEVICE_CPU 1
#define HM_DEVICE_GPU 2
#define HM_DEVICE_NPU 3
#define HM_DEVICE_QPU_SIMULATOR 4
#define HM_DEVICE_OTHER 5

#define HM_TIMER_HOST_CLOCK 1
#define HM_TIMER_DEVICE_EVENT 2

#define HM_DEVICE_SYNCHRONOUS 1u         /* enqueue returns only when the work is done */
#define HM_DEVICE_SINGLE_PROCESS_COMM 2u /* collectives need all devices in one process */
#define HM_DEVICE_DRIVER_CACHE 4u        /* the driver keeps a compile cache of its own */
#define HM_DEVICE_UNIFIED_MEMORY 8u

typedef struct hm_device_info {
  uint32_t struct_size;
  int32_t kind;           /* HM_DEVICE_* kind */
  int32_t timer;          /* HM_TIMER_* */
  uint32_t flags;         /* HM_DEVICE_* flags */
  char id[HM_NAME_MAX];   /* unique in the plugin and stable, e.g. a UUID or "0" */
  char name[HM_TEXT_MAX]; /* as the vendor prints it */
  char isa[HM_TEXT_MAX];  /* best isa key, e.g. "avx512_core_amx"; "" = unknown */
  char driver[HM_TEXT_MAX];
  int64_t memory_bytes;  /* usable by buffers; 0 = unknown */
  int64_t cache_bytes;   /* last-level device cache; 0 = unknown */
  int64_t compute_units; /* cores, SMs, ...; 0 = unknown */
  int64_t clock_hz_max;  /* as the driver states it; 0 = unknown */
} hm_device_info;

typedef struct hm_device_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Required. No context creation. 0 devices is a normal answer; say why through log. */
  int32_t (*count)(hm_plugin*, uint32_t* count, hm_error*);
  /* Required. Fails with HM_INVALID_ARGUMENT when index >= count. */
  int32_t (*describe)(hm_plugin*, uint32_t index, hm_device_info*, hm_error*);
  /* Required. Options (NULL = none): "threads", "isa" ceiling by domain value. Core binding is the
   * host's: affinity is set before the library loads. */
  int32_t (*open)(hm_plugin*, uint32_t index, const hm_config* options, hm_device**, hm_error*);
  void (*close)(hm_device*); /* required; NULL allowed */
} hm_device_api;

/* ---- memory ------------------------------------------------------------------------------- */

#define HM_MEMORY_DEVICE 1
#define HM_MEMORY_HOST_PINNED 2
#define HM_MEMORY_UNIFIED 3

typedef struct hm_memory_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Required. Out of memory is a status, never an abort. alignment is a power of two. */
  int32_t (*create)(hm_device*, uint64_t bytes, uint64_t alignment, int32_t kind, hm_buffer**,
                    hm_error*);
  void (*destroy)(hm_buffer*); /* required; NULL allowed */
  /* Required. Blocking, ordered after all work on the device; offset + bytes checked here too. */
  int32_t (*write)(hm_buffer*, uint64_t offset, const void* source, uint64_t bytes, hm_error*);
  int32_t (*read)(hm_buffer*, uint64_t offset, void* target, uint64_t bytes, hm_error*);
  /* Optional. Repeats a 32-bit pattern over the whole buffer, on the stream. */
  int32_t (*fill)(hm_stream*, hm_buffer*, uint32_t pattern, hm_error*);
  /* Optional, for devices that compute in host memory: a buffer over memory that the host owns and
   * keeps until destroy. Lets the host rotate one arena instead of faulting in fresh pages. */
  int32_t (*wrap)(hm_device*, void* address, uint64_t bytes, hm_buffer**, hm_error*);
} hm_memory_api;

/* ---- stream ------------------------------------------------------------------------------- */

typedef struct hm_stream_api {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*create)(hm_device*, hm_stream**, hm_error*); /* required; an in-order queue */
  void (*destroy)(hm_stream*);                           /* required; NULL allowed */
  /* Required. Returns when all work it caused is finished, on every thread. */
  int32_t (*wait)(hm_stream*, hm_error*);
  /* Conditional: required when timer = HM_TIMER_DEVICE_EVENT. */
  int32_t (*event_create)(hm_device*, hm_event**, hm_error*);
  void (*event_destroy)(hm_event*);
  int32_t (*event_record)(hm_event*, hm_stream*, hm_error*);
  /* Valid after wait. Nanoseconds between two recorded events, >= 0. */
  int32_t (*event_elapsed_ns)(hm_event* begin, hm_event* end, double* ns, hm_error*);
  /* Optional. Device cycles between two events: the real clock per sample. */
  int32_t (*event_elapsed_cycles)(hm_event* begin, hm_event* end, double* cycles, hm_error*);
  /* Optional. Stop the stream until released, so that launch latency stays out of the interval.
   * Releases itself after timeout_ns and then reports HM_LAUNCH_FAILED from unhold. */
  int32_t (*hold)(hm_stream*, uint64_t timeout_ns, hm_error*);
  int32_t (*unhold)(hm_stream*, hm_error*);
} hm_stream_api;

/* ---- kernel ------------------------------------------------------------------------------- */

#define HM_KERNEL_COLLECTIVE 1u /* prepare needs an hm_comm */

typedef struct hm_kernel_info {
  uint32_t struct_size;
  uint32_t flags;         /* HM_KERNEL_* */
  char name[HM_NAME_MAX]; /* unique in the plugin */
  char op[HM_NAME_MAX];   /* the op contract that it implements */
} hm_kernel_info;

#define HM_DOMAIN_LIST 1
#define HM_DOMAIN_RANGE 2 /* values = {low, high, step} */
#define HM_DOMAIN_POW2 3  /* values = {low, high}, both powers of two */

#define HM_DOMAIN_ORDERED 1u
#define HM_DOMAIN_CATEGORICAL 2u /* identified by label in every record, never by integer */

/* values and labels are owned by the plugin and valid until close(device). */
typedef struct hm_domain {
  uint32_t struct_size;
  int32_t kind;
  uint32_t flags;
  uint32_t count; /* of values (and of labels when not NULL) */
  char name[HM_NAME_MAX];
  const int64_t* values;
  const char* const* labels; /* unique in the domain; NULL when not categorical */
  int64_t default_value;
} hm_domain;

#define HM_ROLE_INPUT 1
#define HM_ROLE_OUTPUT 2
#define HM_ROLE_IN_OUT 3
#define HM_ROLE_CONSTANT 4 /* fixed between calls (weights); may be packed by load_constants */
#define HM_ROLE_STATE 5    /* kept between calls in plain layout (KV cache, state vector) */

/* Names, roles, shapes and dtypes of an op's operands, in this order, are those of its contract:
 * OpContract::operands in kernels/<op>/<op>.cpp, one line each in kernels/README.md. A plugin may
 * change layout and bytes of constants alone; everything else is plain and row-major. */
typedef struct hm_operand {
  uint32_t struct_size;
  int32_t role;
  int32_t dtype;
  uint32_t rank;
  int64_t dims[HM_RANK_MAX];
  int64_t strides[HM_RANK_MAX]; /* in elements; all 0 = opaque layout */
  uint64_t bytes;               /* authoritative for allocation */
  uint64_t alignment;
  char name[HM_NAME_MAX];   /* the contract's operand name */
  char layout[HM_NAME_MAX]; /* "ab", "vendor_blocked" */
} hm_operand;

#define HM_PREPARED_SYNCS_INSIDE 1u
#define HM_PREPARED_NONDETERMINISTIC 2u
#define HM_PREPARED_ALLOCATES_INSIDE 4u
#define HM_PREPARED_CONSTANTS_OPAQUE 8u       /* packed constants must not be copied byte-wise */
#define HM_PREPARED_CONSTANTS_IN_PREPARED 16u /* weights are compiled in; one prepared per set */

typedef struct hm_prepared_info {
  uint32_t struct_size;
  uint32_t flags; /* HM_PREPARED_* */
  uint32_t operand_count;
  uint32_t launches_per_execution;
  uint64_t workspace_bytes;         /* supplied by the host in every launch */
  uint64_t constant_bytes;          /* after packing */
  char implementation[HM_TEXT_MAX]; /* verbatim from the library; never empty */
  char isa[HM_NAME_MAX];            /* normalised isa path; "" = unknown */
  char library[HM_NAME_MAX];
  char library_version[HM_NAME_MAX];
} hm_prepared_info;

/* FROZEN. Buffers in operand order. In load_constants, buffers[i] of a constant operand is the
 * packed target and sources[i] the plain source (NULL for every other operand); in enqueue,
 * sources is NULL. A packed constant may have another size than its plain source. */
typedef struct hm_arguments {
  hm_buffer* const* buffers;
  hm_buffer* const* sources;
  uint32_t count;
  uint32_t reserved;
} hm_arguments;

/* Execution i uses sets[i % set_count]. Sets and buffers stay valid until the stream's next wait.
 */
typedef struct hm_launch {
  uint32_t struct_size;
  uint32_t set_count;
  uint64_t repeat;
  const hm_arguments* sets;
  hm_buffer* workspace; /* NULL when workspace_bytes is 0 */
} hm_launch;

typedef struct hm_kernel_api {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*count)(hm_plugin*, uint32_t* count, hm_error*);
  int32_t (*describe)(hm_plugin*, uint32_t kernel, hm_kernel_info*, hm_error*);
  /* Tunable parameters of a kernel for this device and problem. */
  int32_t (*domain_count)(hm_device*, uint32_t kernel, const hm_problem*, uint32_t* count,
                          hm_error*);
  int32_t (*domain)(hm_device*, uint32_t kernel, const hm_problem*, uint32_t index, hm_domain*,
                    hm_error*);
  /* Pure and fast, no device work. NULL config: could any config work? HM_OK or HM_UNSUPPORTED. */
  int32_t (*supports)(hm_device*, uint32_t kernel, const hm_problem*, const hm_config*, hm_error*);
  /* Compile, JIT, create primitives. NULL config = every domain at its default. comm is NULL unless
   * the kernel is a collective. The prepared does not depend on problem or config afterwards. */
  int32_t (*prepare)(hm_device*, uint32_t kernel, const hm_problem*, const hm_config*, hm_comm*,
                     hm_prepared**, hm_error*);
  void (*release)(hm_prepared*); /* NULL allowed */
  int32_t (*info)(hm_prepared*, hm_prepared_info*, hm_error*);
  int32_t (*operand)(hm_prepared*, uint32_t index, hm_operand*, hm_error*);
  /* Queue launch->repeat executions over the argument ring. */
  int32_t (*enqueue)(hm_prepared*, hm_stream*, const hm_launch*, hm_error*);
  /* Conditional: required when any operand has role constant. Called once per argument set. */
  int32_t (*load_constants)(hm_prepared*, hm_stream*, const hm_arguments*, hm_error*);
} hm_kernel_api;

/* ---- probe (optional group) --------------------------------------------------------------- */

#define HM_THROTTLE_POWER 1u
#define HM_THROTTLE_THERMAL 2u
#define HM_THROTTLE_HARDWARE_SLOWDOWN 4u

/* Unknown = NaN, never 0. */
typedef struct hm_clocks {
  uint32_t struct_size;
  uint32_t throttle; /* HM_THROTTLE_* bits */
  double core_hz;
  double memory_hz;
  double temperature_c;
  double power_w;
} hm_clocks;

typedef struct hm_probe_api {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*cache_flush)(hm_stream*, hm_error*); /* at least 2 x last-level device cache */
  int32_t (*clocks_read)(hm_device*, hm_clocks*, hm_error*);
  int32_t (*energy_read)(hm_device*, double* microjoules, hm_error*); /* monotonic */
} hm_probe_api;

/* ---- comm (optional group) ---------------------------------------------------------------- */

/* ranks = 1 must be supported and moves 0 bytes. */
typedef struct hm_comm_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Rank 0 only. Writes at most *bytes (in: HM_TOKEN_MAX) and sets the length; 0 is allowed. */
  int32_t (*token_create)(hm_plugin*, void* token, uint32_t* bytes, hm_error*);
  int32_t (*create)(hm_device*, const void* token, uint32_t token_bytes, uint32_t rank,
                    uint32_t size, hm_comm**, hm_error*);
  void (*destroy)(hm_comm*); /* NULL allowed */
} hm_comm_api;

/* ---- plugin ------------------------------------------------------------------------------- */

typedef struct hm_plugin_api {
  uint32_t struct_size;
  uint32_t abi_version; /* repeated: catches a header/library mix-up inside the plugin */
  const char* name;     /* the backend, e.g. "cpu" */
  const char* version;
  const char* build; /* compiler, flags, libraries, hash */
  int32_t (*create)(const hm_host*, hm_plugin**, hm_error*);
  void (*destroy)(hm_plugin*);
  const hm_device_api* device; /* required */
  const hm_memory_api* memory; /* required */
  const hm_stream_api* stream; /* required */
  const hm_kernel_api* kernel; /* required */
  const hm_probe_api* probe;   /* optional */
  const hm_comm_api* comm;     /* optional */
} hm_plugin_api;

#if defined(_WIN32)
#define HM_EXPORT __declspec(dllexport)
#else
#define HM_EXPORT __attribute__((visibility("default")))
#endif

/* Called first, does nothing else, stable for ever: (major << 16) | minor. */
HM_EXPORT uint32_t hm_abi_version(void);
/* One static table; no device work. */
HM_EXPORT const hm_plugin_api* hm_plugin_entry(void);

#ifdef __cplusplus
}
#endif

#endif /* HALMARK_PLUGIN_H */
