// Copies, fills and pools through NVIDIA's own headers, against arrays computed here.
#include <cstring>

#include "check.cuh"

__device__ int symbol[16];

size_t wrong = 0;
void expect(bool fine, const char* what) {
  if (!fine) std::printf("wrong: %s\n", what);
  wrong += !fine;
}
#define EXPECT(CONDITION_) expect((CONDITION_), #CONDITION_)

void planes() {
  constexpr size_t kWidth = 20, kHeight = 6;
  std::vector<unsigned char> host(kWidth * kHeight), back(host.size());
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7);
  unsigned char* d = nullptr;
  size_t pitch = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocPitch(&d, &pitch, kWidth, kHeight));
  EXPECT(pitch >= kWidth && pitch % 256 == 0);
  CHECK(cudaMemset2DAsync(d, pitch, 0x5A, kWidth, kHeight, stream));
  CHECK(cudaMemcpy2DAsync(d + pitch + 2, pitch, host.data(), kWidth, 8, 3, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpy2DAsync(back.data(), kWidth, d, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool same = true;
  for (size_t y = 0; y < kHeight; ++y) {
    for (size_t x = 0; x < kWidth; ++x) {
      const bool inside = y >= 1 && y < 4 && x >= 2 && x < 10;
      same = same && back[y * kWidth + x] == (inside ? host[(y - 1) * kWidth + x - 2] : 0x5A);
    }
  }
  EXPECT(same);
  EXPECT(cudaMemcpy2D(d, 4, host.data(), kWidth, 8, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue);
  CHECK(cudaFree(d));
}

void volumes() {
  constexpr size_t kX = 12, kY = 5, kZ = 4;
  std::vector<unsigned char> host(kX * kY * kZ), back(host.size());
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i);
  cudaPitchedPtr p{};
  CHECK(cudaMalloc3D(&p, make_cudaExtent(kX, kY, kZ)));
  CHECK(cudaMemset3D(p, 0, make_cudaExtent(kX, kY, kZ)));
  cudaMemcpy3DParms in{};
  in.srcPtr = make_cudaPitchedPtr(host.data(), kX, kX, kY);
  in.dstPtr = p;
  in.srcPos = make_cudaPos(1, 1, 1);
  in.dstPos = make_cudaPos(1, 1, 1);
  in.extent = make_cudaExtent(kX - 2, kY - 2, kZ - 2);
  in.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&in));
  cudaMemcpy3DParms out{};
  out.srcPtr = p;
  out.dstPtr = make_cudaPitchedPtr(back.data(), kX, kX, kY);
  out.extent = make_cudaExtent(kX, kY, kZ);
  out.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&out, nullptr));
  CHECK(cudaDeviceSynchronize());
  bool same = true;
  for (size_t z = 0; z < kZ; ++z) {
    for (size_t y = 0; y < kY; ++y) {
      for (size_t x = 0; x < kX; ++x) {
        const bool inside = x >= 1 && x < kX - 1 && y >= 1 && y < kY - 1 && z >= 1 && z < kZ - 1;
        const size_t i = (z * kY + y) * kX + x;
        same = same && back[i] == (inside ? host[i] : 0);
      }
    }
  }
  EXPECT(same);
}

void symbols() {
  int in[16], out[16];
  for (int i = 0; i < 16; ++i) in[i] = i * i;
  CHECK(cudaMemcpyToSymbol(symbol, in, sizeof in));
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, symbol));
  CHECK(cudaGetSymbolSize(&bytes, symbol));
  EXPECT(bytes == sizeof in);
  CHECK(cudaMemcpy(static_cast<int*>(address) + 3, in, 4 * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyFromSymbol(out, symbol, sizeof out));
  for (int i = 0; i < 16; ++i) expect(out[i] == (i >= 3 && i < 7 ? in[i - 3] : in[i]), "a symbol's bytes are at its address");
}

void pools() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaMemPool_t standard, own;
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  uint64_t threshold = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == UINT64_MAX);
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolCreate(&own, &props));
  int* p = nullptr;
  CHECK(cudaMallocFromPoolAsync(&p, 256, own, stream));
  CHECK(cudaMemsetAsync(p, 1, 256, stream));
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, p + 5, sizeof value, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(value == 0x01010101);
  CHECK(cudaFreeAsync(p, stream));
  CHECK(cudaMemPoolTrimTo(own, 0));
  CHECK(cudaMemPoolDestroy(own));
  size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_before, &total));
  void* big = nullptr;
  CHECK(cudaMalloc(&big, 64 << 20));
  CHECK(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_before - free_after >= size_t{64} << 20);
  void* all = nullptr;
  EXPECT(cudaMalloc(&all, total + 1) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaFree(big));
}

void host_memory() {
  int *pinned = nullptr, *mapped = nullptr, *managed = nullptr;
  CHECK(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  CHECK(cudaMemset(mapped, 0, 64));
  EXPECT(pinned[3] == 0);
  CHECK(cudaMallocManaged(&managed, 64));
  CHECK(cudaMemset(managed, 0xFF, 64));
  EXPECT(managed[15] == -1);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, pinned));
  EXPECT((flags & cudaHostAllocMapped) != 0);
  std::vector<int> pageable(16, 3);
  CHECK(cudaMemcpy(managed, pageable.data(), 64, cudaMemcpyDefault));
  EXPECT(managed[7] == 3);
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(managed));
}

int main() {
  planes();
  volumes();
  symbols();
  pools();
  host_memory();
  return verdict(wrong, 1);
}
