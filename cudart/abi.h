// The part of CUDA 13.0's binary interface that the stand-in serves: numbers and layouts of driver_types.h,
// cuda_runtime_api.h, crt/host_runtime.h, fatbinary_section.h and cuda.h, declared here so that Drywell builds without
// the toolkit. tests/cudart/abi_test.cpp compares them with the real headers if they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::cudart {

/// cudaError_t and CUresult, which have the same numbers (table/errors.inc).
enum class CudaError : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization = 3,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  invalid_memcpy_direction = 21,
  insufficient_driver = 35,
  missing_configuration = 52,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_kernel_image = 200,
  invalid_context = 201,
  no_kernel_image = 209,
  unsupported_limit = 215,
  invalid_ptx = 218,
  file_not_found = 301,
  invalid_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  assert_failed = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  tensor_memory_leak = 721,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_implicit = 906,
  graph_update_failure = 910,
  invalid_cluster_size = 912,
  unknown = 999,
};

inline constexpr int kRuntimeVersion = 13000;  // CUDART_VERSION of the interface served
/// CUDA 13.4: a driver takes the PTX of its own version and of older ones, and Drywell reads PTX 9.4. Libraries with a compiler of their own
/// make machine code for an older driver (Warp).
inline constexpr int kDriverVersion = 13040;

struct AbiDim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// __fatBinC_Wrapper_t (fatbinary_section.h).
struct FatbinWrapper {
  uint32_t magic;    // kFatbinWrapperMagic
  uint32_t version;  // 1: data is the container; kLinkedFatbin: `prelinked` is an array of containers that ends with nullptr
  const void* data;
  void* prelinked;
};
inline constexpr uint32_t kFatbinWrapperMagic = 0x466243B1, kLinkedFatbin = 2;

/// cudaMemcpyKind
enum class CopyKind : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  inferred = 4
};
/// cudaMemoryType
enum class MemoryType : int {
  unregistered = 0,
  host = 1,
  device = 2,
  managed = 3
};

struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};

struct FuncAttributes {
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads_per_block, num_regs, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared_bytes;
  int preferred_carveout, cluster_must_be_set, required_cluster_width, required_cluster_height, required_cluster_depth;
  int cluster_scheduling_policy, non_portable_cluster_allowed;
  int reserved[16];
};
/// cudaFuncAttribute; CUfunction_attribute has the same numbers.
enum FuncAttribute : int {
  kMaxDynamicSharedMemorySize = 8,
  kPreferredSharedMemoryCarveout = 9,
  kClusterDimMustBeSet = 10,
  kRequiredClusterWidth = 11,
  kRequiredClusterHeight = 12,
  kRequiredClusterDepth = 13,
  kNonPortableClusterSizeAllowed = 14,
  kClusterSchedulingPolicyPreference = 15,
};

/// cudaLaunchAttribute; CUlaunchAttribute is the same.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    AbiDim3 cluster;
    int flag;
    struct {
      void* event;
      int flags, trigger_at_start;
    } programmatic_event;
  };
};
enum LaunchAttributeId : int {
  kIgnore = 0,
  kAccessPolicyWindow = 1,
  kCooperative = 2,
  kSynchronizationPolicy = 3,
  kClusterDimension = 4,
  kClusterSchedulingPolicy = 5,
  kProgrammaticStreamSerialization = 6,
  kProgrammaticEvent = 7,
  kPriority = 8,
  kMemSyncDomainMap = 9,
  kMemSyncDomain = 10,
  kPreferredClusterDimension = 11,
  kLaunchCompletionEvent = 12,
  kPreferredCarveout = 14,
  kNvlinkUtilCentricScheduling = 16,
};

/// cudaLaunchConfig_t
struct RuntimeLaunchConfig {
  AbiDim3 grid, block;
  size_t dynamic_smem;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
/// CUlaunchConfig
struct DriverLaunchConfig {
  AbiDim3 grid, block;
  unsigned dynamic_smem;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Extent {
  size_t width, height, depth;
};
struct Pos {
  size_t x, y, z;
};
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
/// cudaMemcpy3DParms
struct Memcpy3DParms {
  void* src_array;
  Pos src_pos;
  PitchedPtr src_ptr;
  void* dst_array;
  Pos dst_pos;
  PitchedPtr dst_ptr;
  Extent extent;
  CopyKind kind;
};

/// cudaKernelNodeParams
struct KernelNodeParams {
  const void* function;
  AbiDim3 grid, block;
  unsigned dynamic_smem;
  void** arguments;
  void** extra;
};
/// cudaMemsetParams
struct MemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, element_size;
  size_t width, height;
};
/// cudaHostNodeParams
struct HostNodeParams {
  void (*function)(void*);
  void* user_data;
};
/// cudaGraphNodeType
enum class GraphNodeType : int {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait_event = 6,
  event_record = 7,
  mem_alloc = 10,
  mem_free = 11,
  batch_mem_op = 12,
  conditional = 13
};

/// cudaMemAllocNodeParams
struct MemAllocNodeParams {
  long long pool[11];  // cudaMemPoolProps
  const void* access;
  size_t access_count, bytes;
  void* address;  // the result
};

/// CUstreamBatchMemOpType
enum class MemOp : int {
  wait32 = 1,
  write32 = 2,
  flush = 3,
  wait64 = 4,
  write64 = 5,
  barrier = 6
};
/// CUstreamBatchMemOpParams
struct BatchMemOp {
  MemOp op;
  uint64_t address, value;
  unsigned flags;
  uint64_t alias, unused;
};
/// cudaGraphConditionalNodeType
enum class ConditionType : int {
  if_ = 0,
  while_ = 1,
  switch_ = 2
};
/// cudaConditionalNodeParams
struct ConditionalNodeParams {
  uint64_t handle;
  ConditionType type;
  unsigned size;
  void** bodies;  // the result: an array of `size` graphs
};

/// cudaMemcpyNodeParams
struct MemcpyNodeParams {
  int flags, reserved[3];
  Memcpy3DParms copy;
};
/// cudaGraphNodeParams
struct GraphNodeParams {
  GraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    MemcpyNodeParams memcpy;
    MemsetParams memset;
    HostNodeParams host;
    void* graph;
    void* event;
    MemAllocNodeParams alloc;
    void* address;  // of a mem_free node
    ConditionalNodeParams conditional;
  };
  long long reserved2;
};
/// cudaGraphEdgeData; all zero: the whole second node runs after the whole first node.
struct GraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

/// cudaGraphInstantiateParams
struct GraphInstantiateParams {
  unsigned long long flags;
  void *upload_stream, *error_node;
  int result;
};

/// cudaMemLocation, passed in a register.
struct MemLocation {
  int type, id;
};

}  // namespace drywell::cudart
