// A CUDA program that misbehaves: guest MODE. Linked with the stand-in, without nvcc. It ends with 0 if every
// call behaved.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuModuleLoadData(void** out, const void* image);
int cuModuleGetFunction(void** out, void* module, const char* name);
int cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned smem, void* stream, void** params, void** extra);
int cudaMalloc(void** out, size_t bytes);
int cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height);
int cudaMallocHost(void** out, size_t bytes);
int cudaMallocManaged(void** out, size_t bytes, unsigned flags);
int cudaFree(void*);
int cudaHostRegister(void* p, size_t bytes, unsigned flags);
int cudaMemset(void*, int, size_t);
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);
int cudaMemGetInfo(size_t* free, size_t* total);
int cudaDeviceSynchronize();
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t n);
}

namespace {

constexpr int kOutOfMemory = 2, kTimedOut = 702;

constexpr const char* kKernels = R"(
.version 8.8
.target sm_100a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[8] = {27, 91, 50, 74, 37, 102, 10, 0};
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }
.visible .entry change(.param .u64 p) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; ld.global.u32 %r, [%d]; and.b32 %r, %r, 7; st.global.u32 [%d], %r; ret; }
.visible .entry endless(.param .u64 p) { L: bra L; }
.visible .entry spin(.param .u64 p) { .reg .b64 %d; .reg .b32 %r; .reg .pred %q; ld.param.u64 %d, [p]; L: ld.volatile.global.u32 %r, [%d]; setp.ne.u32 %q, %r, 12345; @%q bra L; ret; }
.func deeper(.param .b32 n) { .reg .b32 %r<4>; ld.param.u32 %r0, [n]; add.u32 %r1, %r0, 1;
  { .param .b32 a; st.param.b32 [a], %r1; call.uni deeper, (a); } ret; }
.visible .entry recursion(.param .u64 p) { .param .b32 a; st.param.b32 [a], 0; call.uni deeper, (a); ret; }
.visible .entry flood(.param .u64 p) { .local .align 8 .b8 v[8]; .reg .b64 %t; .reg .b64 %l; .reg .b32 %n; .reg .pred %q;
  mov.u64 %t, text; cvta.global.u64 %t, %t; mov.u64 %l, v; cvta.local.u64 %l, %l; mov.u32 %n, 0;
L: { .param .b64 f; .param .b64 w; .param .b32 r; st.param.b64 [f], %t; st.param.b64 [w], %l; call.uni (r), vprintf, (f, w); }
  add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 100000; @%q bra L; ret; }
.visible .entry print(.param .u64 p) { .local .align 8 .b8 v[8]; .reg .b64 %t; .reg .b64 %l; .reg .f64 %d;
  mov.u64 %t, text; cvta.global.u64 %t, %t; mov.u64 %l, v; cvta.local.u64 %l, %l; mov.f64 %d, 0d3FF8000000000000; st.local.f64 [v], %d;
  { .param .b64 f; .param .b64 w; .param .b32 r; st.param.b64 [f], %t; st.param.b64 [w], %l; call.uni (r), vprintf, (f, w); } ret; }
.visible .entry wild(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d+1099511627776], 7; ret; }
)";

int failures = 0;

void expect(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "guest: %s\n", what);
  ++failures;
}

void* kernel(const char* name) {
  void *module = nullptr, *f = nullptr;
  expect(cuInit(0) == 0 && cuModuleLoadData(&module, kKernels) == 0 &&
             cuModuleGetFunction(&f, module, name) == 0,
         "the module does not load");
  return f;
}

void* word() {
  void* p = nullptr;
  expect(cudaMalloc(&p, 4096) == 0, "no memory for a word");
  return p;
}

/// Launches a kernel and returns the error of the device.
int launch(const char* name, unsigned grid = 1, unsigned block = 32) {
  void* p = word();
  void* arguments[] = {&p};
  const int error = cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr);
  return error != 0 ? error : cudaDeviceSynchronize();
}

// Allocates ever smaller pieces and writes them until there is nothing left, or three gigabytes are taken.
void exhaust() {
  constexpr uint64_t kEnough = uint64_t{3} << 30;
  uint64_t taken = 0;
  for (uint64_t bytes = uint64_t{1} << 44; bytes >= 4096 && taken < kEnough;) {
    void* p = nullptr;
    if (const int e = cudaMalloc(&p, bytes); e != 0) {
      expect(e == kOutOfMemory, "an allocation that does not fit fails otherwise");
      bytes /= 2;
      continue;
    }
    taken += bytes;
    expect(cudaMemset(p, 0, std::min<uint64_t>(bytes, 64 << 20)) == 0, "memory cannot be filled");
  }
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total) == 0 && free <= total, "cudaMemGetInfo");
}

void big() {
  size_t free = 0, total = 0, pitch = 0;
  expect(cudaMemGetInfo(&free, &total) == 0, "cudaMemGetInfo");
  void* p = nullptr;
  expect(cudaMalloc(&p, free / 10 * 9) == 0, "nine tenths of what is free");
  for (const size_t bytes : {~size_t{0}, ~size_t{0} - 4096, size_t{1} << 63, size_t{1} << 50}) {
    expect(cudaMalloc(&p, bytes) == kOutOfMemory, "cudaMalloc of more than there is");
    expect(cudaMallocHost(&p, bytes) == kOutOfMemory, "cudaMallocHost of more than there is");
    expect(cudaMallocManaged(&p, bytes, 1) == kOutOfMemory, "cudaMallocManaged of more than there is");
    expect(cudaMallocPitch(&p, &pitch, bytes, 1 << 20) == kOutOfMemory,
           "cudaMallocPitch of more than there is");
  }
}

void many() {
  std::vector<void*> all(16'000);
  for (void*& p : all) expect(cudaMalloc(&p, 256) == 0, "one of many allocations");
  for (size_t i = 0; i < all.size(); i += 2) expect(cudaFree(all[i]) == 0, "one of many frees");
  for (size_t i = 0; i < all.size(); i += 2) expect(cudaMalloc(&all[i], 512) == 0, "a larger one");
}

void arguments() {
  char host[16] = {};
  void* p = word();
  expect(cudaMalloc(nullptr, 4) != 0 && cudaFree(host) != 0 && cudaMemset(nullptr, 0, 4) != 0,
         "null is taken");
  expect(cudaMemcpy(p, host, ~size_t{0} / 2, 1) != 0 && cudaMemset(p, 0, size_t{1} << 40) != 0,
         "more than the allocation");
  expect(cudaHostRegister(reinterpret_cast<void*>(~uint64_t{4095}), 1 << 20, 0) != 0 &&
             cudaHostRegister(host, size_t{1} << 46, 0) != 0,
         "memory that the program does not have is registered");
  expect(cuMemsetD32_v2(reinterpret_cast<uint64_t>(p), 1, (size_t{1} << 62) + 1) != 0, "a count that wraps");
  expect(cuModuleLoadData(&p, "no code") != 0 && cuModuleLoadData(&p, nullptr) != 0, "no code is code");
  expect(launch("store", 0) != 0 && launch("store", 1, 1025) != 0 && launch("store", 0x8000'0000u) != 0,
         "a launch that devices refuse");
}

void threads() {
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([] {
      for (int n = 0; n < 8; ++n) expect(launch("store") == 0, "a launch of a thread");
    });
  }
  for (std::thread& t : all) t.join();
}

void forks() {
  expect(launch("store") == 0, "a launch before the fork");
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      void* p = nullptr;
      std::exit(cudaMalloc(&p, 4) == 0 ? 1 : 0);  // a device does not survive a fork
    }
    int status = 0;
    expect(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child");
  }
}

struct Late {
  bool used = false;
  ~Late() {
    if (used && launch("store") != 0) std::_Exit(1);
  }
} late;

void at_exit() {
  late.used = true;
  std::atexit([] {
    if (launch("store") != 0) std::_Exit(1);
  });
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {
    {"exhaust", exhaust},
    {"big", big},
    {"many", many},
    {"arguments", arguments},
    {"threads", threads},
    {"forks", forks},
    {"at_exit", at_exit},
    {"flood", [] { expect(launch("flood", 1, 1) == 0, "the flood"); }},
    {"print", [] { expect(launch("print", 1, 1) == 0, "a line"); }},
    {"endless", [] { expect(launch("endless", 300, 64) == kTimedOut, "an endless kernel ends otherwise"); }},
    {"spin", [] { expect(launch("spin") == kTimedOut, "a kernel that waits for ever ends otherwise"); }},
    {"recursion", [] { expect(launch("recursion", 64, 64) != 0, "endless recursion succeeds"); }},
    {"wild", [] { expect(launch("wild") != 0, "a wild store succeeds"); }},
    {"grid", [] { expect(launch("change", 20'000, 32) == 0, "a large grid"); }},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& m : kModes) {
    if (argc == 2 && std::strcmp(argv[1], m.name) == 0) {
      m.run();
      return failures == 0 ? 0 : 1;
    }
  }
  for (const Mode& m : kModes) std::puts(m.name);
  return argc == 1 ? 0 : 2;
}
