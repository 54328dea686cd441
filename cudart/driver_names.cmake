# Second names of functions of the driver.
# First versions whose parameters are those of the second one. (Those of the others are of 32 bits, as cuMemAlloc's: they stay refused.)
set(first_versions
    cuCtxCreate cuCtxDestroy cuCtxPopCurrent cuCtxPushCurrent cuDeviceGetUuid cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset
    cuDevicePrimaryCtxSetFlags cuEventDestroy cuLinkAddData cuLinkAddFile cuLinkCreate cuMemHostRegister cuStreamBatchMemOp
    cuStreamDestroy cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 cuStreamWriteValue64)
# Programs compiled with --default-stream per-thread. They are the same functions, because work runs when it is submitted, in every stream.
set(per_thread_streams
    cuEventRecord cuEventRecordWithFlags cuGraphInstantiateWithParams cuGraphLaunch cuGraphUpload cuLaunchCooperativeKernel
    cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync cuMemcpyPeerAsync cuMemcpy3DPeerAsync cuMemPrefetchBatchAsync cuMemDiscardBatchAsync
    cuMemDiscardAndPrefetchBatchAsync cuMemcpyBatchAsync_v2
    cuMemPrefetchAsync_v2 cuMemcpy2DAsync_v2 cuMemcpy3DAsync_v2 cuMemcpyAsync cuMemcpyDtoDAsync_v2 cuMemcpyDtoHAsync_v2
    cuMemcpyHtoDAsync_v2 cuMemsetD16Async cuMemsetD2D16Async cuMemsetD2D32Async cuMemsetD2D8Async cuMemsetD32Async
    cuMemsetD8Async cuStreamAddCallback cuStreamAttachMemAsync cuStreamBatchMemOp_v2 cuStreamBeginCaptureToGraph
    cuStreamBeginCapture_v2 cuStreamCopyAttributes cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo_v2
    cuStreamGetCaptureInfo_v3 cuStreamGetCtx cuStreamGetCtx_v2 cuStreamGetDevice cuStreamGetFlags cuStreamGetId
    cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute cuStreamSynchronize
    cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2
    cuStreamWriteValue64_v2)
set(per_thread_copies
    cuMemcpyPeer cuMemcpy3DPeer
    cuMemcpy cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3D_v2 cuMemcpyDtoD_v2 cuMemcpyDtoH_v2 cuMemcpyHtoD_v2 cuMemsetD16_v2
    cuMemsetD2D16_v2 cuMemsetD2D32_v2 cuMemsetD2D8_v2 cuMemsetD32_v2 cuMemsetD8_v2)
set(driver_names "")
foreach(name ${first_versions})
  list(APPEND driver_names ${name}=${name}_v2)
endforeach()
foreach(name ${per_thread_streams})
  list(APPEND driver_names ${name}_ptsz=${name})
endforeach()
foreach(name ${per_thread_copies})
  list(APPEND driver_names ${name}_ptds=${name})
endforeach()
foreach(name cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 cuStreamWriteValue64 cuStreamBatchMemOp)
  list(APPEND driver_names ${name}_ptsz=${name}_v2)
endforeach()
foreach(pair ${driver_names})
  target_link_options(drywell_cudart PRIVATE -Wl,--defsym=${pair})
endforeach()
