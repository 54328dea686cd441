// What a program may ask too much of, one mode each: `hard MODE [NUMBER]`.
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

__global__ void store(int* p) { if (threadIdx.x == 0 && blockIdx.x == 0) *p = 1; }
__global__ void wait_for_ever(volatile int* p) { while (*p != 12345) {} }
__global__ void print_numbers() { printf("%.2f|%9.1e\n", 1234.5, 0.5); }

struct Global {
  int* device = nullptr;
  ~Global() {
    if (device == nullptr) return;
    std::printf("destructor: free %d, ", static_cast<int>(cudaFree(device)));
    store<<<1, 1>>>(device);
    std::printf("synchronize %d\n", static_cast<int>(cudaDeviceSynchronize()));
    std::fflush(stdout);
  }
} global;

int* word() {
  int* p = nullptr;
  if (cudaMalloc(&p, 4) != cudaSuccess) std::exit(9);
  return p;
}

// The device is reset in a handler; a destructor that runs later frees what was in it, and launches.
void reset_at_exit(size_t) {
  global.device = word();
  std::atexit([] {
    std::printf("handler: %d\n", static_cast<int>(cudaDeviceSynchronize()));
    cudaDeviceReset();
  });
  store<<<1, 1>>>(global.device);
}

void most_of_free(size_t) {
  size_t free = 0, total = 0;
  void* p = nullptr;
  cudaMemGetInfo(&free, &total);
  std::printf("%d\n", static_cast<int>(cudaMalloc(&p, free / 10 * 9)));
}

void exhaust(size_t) {
  constexpr size_t kEnough = size_t{3} << 30;
  size_t all = 0;
  for (size_t bytes = size_t{1} << 40; bytes >= 256 && all <= kEnough;) {
    void* p = nullptr;
    if (cudaMalloc(&p, bytes) == cudaSuccess) all += bytes;
    else bytes /= 2;
  }
  void* p = nullptr;
  std::printf("%d ", static_cast<int>(cudaMalloc(&p, static_cast<size_t>(-1))));
  std::printf("%d ", static_cast<int>(cudaMallocHost(&p, size_t{1} << 50)));
  std::printf("%d\n", static_cast<int>(cudaMallocManaged(&p, size_t{1} << 50)));
}

// How many times longer the last quarter of n allocations takes than the first: about 1 if none costs more than the one before it.
void many(size_t n) {
  using Clock = std::chrono::steady_clock;
  double quarter[4] = {};
  for (double& q : quarter) {
    const auto start = Clock::now();
    for (size_t i = 0; i < n / 4; ++i) word();
    q = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::printf("%d\n", quarter[3] < 8 * quarter[0]);
}

void grids(size_t) {
  int* const p = word();
  const auto said = [] { std::printf("%d ", static_cast<int>(cudaGetLastError())); };
  store<<<0, 32>>>(p), said();
  store<<<1, 0>>>(p), said();
  store<<<1, 1025>>>(p), said();
  store<<<dim3(1, 65536), 1>>>(p), said();
  store<<<0x80000000u, 1>>>(p), said();
  store<<<2147483647, 1>>>(p), said();
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
}

void endless(size_t) {
  int* p = nullptr;  // memory of the host, which might write there
  if (cudaMallocHost(&p, sizeof(int)) == cudaSuccess) *p = 0;
  wait_for_ever<<<1, 32>>>(p);
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
}

void comma(size_t) {
  std::printf("%s\n", std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr ? "no locale" : std::localeconv()->decimal_point);
  std::fflush(stdout);
  print_numbers<<<1, 1>>>();
  cudaDeviceSynchronize();
  std::printf("%.1f\n", 1.5);
}

int main(int count, char** words) {
  const struct { const char* name; void (*run)(size_t); } modes[] = {
      {"reset_at_exit", reset_at_exit}, {"most_of_free", most_of_free}, {"exhaust", exhaust}, {"many", many}, {"grids", grids}, {"endless", endless}, {"comma", comma}};
  for (const auto& m : modes) {
    if (count > 1 && std::strcmp(m.name, words[1]) == 0) return m.run(count > 2 ? std::strtoull(words[2], nullptr, 0) : 0), 0;
  }
  return 2;
}
