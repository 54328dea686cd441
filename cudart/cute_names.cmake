# Second names of CUDA's functions in the run-time library of CuTe DSL: "_" and the name; "a=b": _a is b (cudart/api/cute.cpp).
set(cute_names cuDeviceGet cuKernelGetAttribute cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetKernelCount cuLibraryGetManaged
    cuLibraryGetModule cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuTensorMapEncodeTiled
    cudaDeviceGetAttribute cudaDeviceSynchronize cudaEventCreate cudaEventDestroy cudaEventElapsedTime cudaEventRecord cudaFree
    cudaFreeAsync cudaFreeHost cudaFuncSetAttribute cudaGetDevice cudaGetDeviceCount cudaGetDeviceProperties=cudaGetDeviceProperties_v2
    cudaGraphDestroy cudaGraphExecDestroy cudaGraphInstantiate cudaGraphLaunch cudaKernelSetAttributeForDevice cudaLaunchKernel
    cudaLaunchKernelEx=cudaLaunchKernelExC cudaLibraryGetGlobal cudaLibraryGetKernel cudaLibraryGetKernelCount cudaLibraryGetManaged
    cudaLibraryGetUnifiedFunction cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload cudaMalloc cudaMallocAsync
    cudaMallocHost cudaMallocManaged cudaMemcpy cudaMemcpyAsync cudaMemset cudaMemsetAsync
    cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaProfilerStart cudaProfilerStop cudaSetDevice cudaStreamAddCallback
    cudaStreamBeginCapture cudaStreamCreate cudaStreamDestroy cudaStreamEndCapture cudaStreamSynchronize)
foreach(name ${cute_names})
  string(REGEX REPLACE "^(.*)=(.*)$" "_\\1=\\2" pair "${name}")
  if(pair STREQUAL name)
    set(pair "_${name}=${name}")
  endif()
  target_link_options(drywell_cudart PRIVATE -Wl,--defsym=${pair})
endforeach()
