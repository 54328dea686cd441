// Functions that are not served: every call returns cudaErrorNotSupported, which the program can test.
#include "check.cuh"

__global__ void sample(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 0.5f, 0.5f); }
__global__ void store(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 0, 0); }

size_t wrong = 0;

void refused(cudaError_t e, const char* what) {
  if (e != cudaErrorNotSupported) std::printf("%s: %s\n", what, cudaGetErrorName(e));
  wrong += e != cudaErrorNotSupported;
  cudaGetLastError();
}
#define REFUSED(CALL_) refused((CALL_), #CALL_)

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t levels = nullptr;
  REFUSED(cudaMallocArray(&array, &format, 8, 8));
  REFUSED(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 8, 8)));
  REFUSED(cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(8, 8, 8), 2));
  float* p = nullptr;
  CHECK(cudaMalloc(&p, 1024));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {p, format, 1024};
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  REFUSED(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  REFUSED(cudaCreateSurfaceObject(&surface, &resource));
  cudaIpcMemHandle_t memory{};
  cudaIpcEventHandle_t event{};
  void* opened = nullptr;
  REFUSED(cudaIpcGetMemHandle(&memory, p));
  REFUSED(cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess));
  cudaEvent_t e;
  CHECK(cudaEventCreate(&e));
  REFUSED(cudaIpcGetEventHandle(&event, e));
  cudaExternalMemory_t external = nullptr;
  const cudaExternalMemoryHandleDesc handle{};
  REFUSED(cudaImportExternalMemory(&external, &handle));
  // The launches of kernels that use them, too.
  sample<<<1, 1>>>(texture, p);
  REFUSED(cudaGetLastError());
  store<<<1, 1>>>(surface);
  REFUSED(cudaGetLastError());
  return verdict(wrong, 11);
}
