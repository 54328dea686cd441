// cudart/abi.h against NVIDIA's headers, where they are (CMake defines DRYWELL_CUDA_HEADERS).
#include "cudart/abi.h"

#include <gtest/gtest.h>

#include "cudart/device_prop.h"
#include "cudart/errors.h"

#ifdef DRYWELL_CUDA_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>
#endif

namespace drywell::cudart {
namespace {

#ifdef DRYWELL_CUDA_HEADERS
#define SAME_SIZE(OURS_, THEIRS_) static_assert(sizeof(OURS_) == sizeof(THEIRS_) && alignof(OURS_) == alignof(THEIRS_))
#define SAME_PLACE(OURS_, OUR_FIELD_, THEIRS_, THEIR_FIELD_) static_assert(offsetof(OURS_, OUR_FIELD_) == offsetof(THEIRS_, THEIR_FIELD_))

SAME_SIZE(AbiDim3, dim3);
SAME_SIZE(FatbinWrapper, __fatBinC_Wrapper_t);
SAME_SIZE(PointerAttributes, cudaPointerAttributes);
SAME_SIZE(FuncAttributes, cudaFuncAttributes);
SAME_PLACE(FuncAttributes, max_dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FuncAttributes, non_portable_cluster_allowed, cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
SAME_PLACE(LaunchAttribute, cluster, cudaLaunchAttribute, val.clusterDim);
SAME_PLACE(LaunchAttribute, programmatic_event.event, cudaLaunchAttribute, val.programmaticEvent.event);
SAME_SIZE(LaunchAttribute, CUlaunchAttribute);
SAME_SIZE(RuntimeLaunchConfig, cudaLaunchConfig_t);
SAME_PLACE(RuntimeLaunchConfig, attributes, cudaLaunchConfig_t, attrs);
SAME_SIZE(DriverLaunchConfig, CUlaunchConfig);
SAME_PLACE(DriverLaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_SIZE(Memcpy3DParms, cudaMemcpy3DParms);
SAME_PLACE(Memcpy3DParms, extent, cudaMemcpy3DParms, extent);
SAME_SIZE(KernelNodeParams, cudaKernelNodeParams);
SAME_SIZE(MemsetParams, cudaMemsetParams);
SAME_SIZE(HostNodeParams, cudaHostNodeParams);
SAME_SIZE(GraphNodeParams, cudaGraphNodeParams);
SAME_PLACE(GraphNodeParams, kernel, cudaGraphNodeParams, kernel);
SAME_PLACE(GraphNodeParams, memcpy.copy, cudaGraphNodeParams, memcpy.copyParams);
SAME_PLACE(GraphNodeParams, graph, cudaGraphNodeParams, graph.graph);
SAME_SIZE(GraphEdgeData, cudaGraphEdgeData);
SAME_SIZE(MemLocation, cudaMemLocation);
static_assert(static_cast<int>(CudaError::invalid_cluster_size) == cudaErrorInvalidClusterSize);
static_assert(static_cast<int>(CudaError::tensor_memory_leak) == cudaErrorTensorMemoryLeak);
static_assert(static_cast<int>(CudaError::graph_update_failure) == cudaErrorGraphExecUpdateFailure);
static_assert(static_cast<int>(CudaError::host_memory_not_registered) == cudaErrorHostMemoryNotRegistered);
static_assert(kPreferredClusterDimension == static_cast<int>(cudaLaunchAttributePreferredClusterDimension));
static_assert(kNvlinkUtilCentricScheduling == static_cast<int>(cudaLaunchAttributeNvlinkUtilCentricScheduling));
static_assert(kClusterSchedulingPolicyPreference == static_cast<int>(cudaFuncAttributeClusterSchedulingPolicyPreference));
static_assert(static_cast<int>(kNonPortableClusterSizeAllowed) == static_cast<int>(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
#if CUDART_VERSION >= 13000
SAME_SIZE(DeviceProp13, cudaDeviceProp);
SAME_PLACE(DeviceProp13, multiProcessorCount, cudaDeviceProp, multiProcessorCount);
SAME_PLACE(DeviceProp13, sharedMemPerBlockOptin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME_PLACE(DeviceProp13, clusterLaunch, cudaDeviceProp, clusterLaunch);
#endif

TEST(Abi, NumbersAndLayoutsAreThoseOfTheHeaders) { SUCCEED() << "checked when this was compiled"; }
#else
TEST(Abi, NumbersAndLayoutsAreThoseOfTheHeaders) { GTEST_SKIP() << "no CUDA headers"; }
#endif

// CUDA 12's structure has 1032 bytes, with multiProcessorCount at offset 388.
TEST(Abi, TheOldPropertiesHaveTheirOldPlaces) {
  EXPECT_EQ(sizeof(DeviceProp12), 1032u);
  EXPECT_EQ(offsetof(DeviceProp12, multiProcessorCount), 388u);
}

TEST(Abi, ErrorsHaveNamesInBothInterfaces) {
  EXPECT_STREQ(runtime_name(CudaError::illegal_address), "cudaErrorIllegalAddress");
  EXPECT_STREQ(driver_name(CudaError::illegal_address), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_STREQ(error_text(CudaError::invalid_value), "invalid argument");
  EXPECT_STREQ(runtime_name(static_cast<CudaError>(12345)), "unrecognized error code");
  EXPECT_EQ(driver_name(static_cast<CudaError>(12345)), nullptr);
}

}  // namespace
}  // namespace drywell::cudart
