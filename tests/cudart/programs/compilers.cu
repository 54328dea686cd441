// Compiles and links while it runs: NVRTC's machine code, and links by nvJitLink of PTX, and of code to be optimised at link time.
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstring>
#include <string>

#include "check.cuh"

namespace {

constexpr const char* kKernel = "extern __device__ int twice(int); extern \"C\" __global__ void k(int* y) { y[threadIdx.x] = twice(threadIdx.x) + 1; }";
constexpr const char* kPart = "__device__ int twice(int x) { return 2 * x; }";
constexpr const char* kWhole = "__device__ int twice(int x) { return 2 * x; } extern \"C\" __global__ void k(int* y) { y[threadIdx.x] = twice(threadIdx.x) + 1; }";

// As an old compiler wrote it: the link is for the chip of the kernel.
constexpr const char* kOldPart = R"(.version 6.5
.target sm_50
.address_size 64
.visible .func (.param .b32 r) _Z5twicei(.param .b32 x)
{
.reg .b32 %r1;
ld.param.u32 %r1, [x];
shl.b32 %r1, %r1, 1;
st.param.b32 [r], %r1;
ret;
})";

void require(bool fine, const char* what) {
  if (fine) return;
  std::printf("%s\n", what);
  std::exit(2);
}


template <class B, class T>
std::string compiled(const char* source, std::vector<const char*> options, B bytes, T text) {
  nvrtcProgram p;
  require(nvrtcCreateProgram(&p, source, "k.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS, "nvrtcCreateProgram");
  require(nvrtcCompileProgram(p, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS, "nvrtcCompileProgram");
  size_t n = 0;
  require(bytes(p, &n) == NVRTC_SUCCESS && n > 0, "no code");
  std::string out(n, '\0');
  require(text(p, out.data()) == NVRTC_SUCCESS, "code");
  nvrtcDestroyProgram(&p);
  return out;
}

std::string linked(nvJitLinkInputType type, const std::vector<std::string>& parts, std::vector<const char*> options) {
  nvJitLinkHandle link;
  require(nvJitLinkCreate(&link, static_cast<uint32_t>(options.size()), options.data()) == NVJITLINK_SUCCESS, "nvJitLinkCreate");
  for (const std::string& p : parts) require(nvJitLinkAddData(link, type, p.data(), p.size(), "part") == NVJITLINK_SUCCESS, "nvJitLinkAddData");
  require(nvJitLinkComplete(link) == NVJITLINK_SUCCESS, "nvJitLinkComplete");
  size_t n = 0;
  require(nvJitLinkGetLinkedCubinSize(link, &n) == NVJITLINK_SUCCESS, "nvJitLinkGetLinkedCubinSize");
  std::string out(n, '\0');
  require(nvJitLinkGetLinkedCubin(link, out.data()) == NVJITLINK_SUCCESS, "nvJitLinkGetLinkedCubin");
  require(nvJitLinkDestroy(&link) == NVJITLINK_SUCCESS && link == nullptr, "nvJitLinkDestroy");
  return out;
}

size_t wrong_values(const std::string& image, int registers = 255) {
  CUmodule module;
  CUfunction kernel;
  require(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS && cuModuleGetFunction(&kernel, module, "k") == CUDA_SUCCESS, "cuModuleLoadData");
  int used = 0;
  require(cuFuncGetAttribute(&used, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel) == CUDA_SUCCESS && used > 0 && used <= registers, "registers");
  int* const d = to_device(std::vector<int>(32, 0));
  void* arguments[] = {const_cast<int**>(&d)};
  require(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "cuLaunchKernel");
  size_t wrong = 0;
  const auto out = to_host(d, 32);
  for (int i = 0; i < 32; ++i) wrong += out[i] != 2 * i + 1;
  return wrong;
}

// A link of PTX with an option that nvJitLink refuses: when it is made, or for its value when PTX is added. It has a log then.
bool refused(const std::string& ptx, const char* option, nvJitLinkResult made, nvJitLinkResult added) {
  const char* options[] = {"-arch=sm_100a", option};
  nvJitLinkHandle link;
  if (nvJitLinkCreate(&link, 2, options) != made) return false;
  const bool right = made != NVJITLINK_SUCCESS || nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, ptx.data(), ptx.size(), "part") == added;
  size_t n = 0;
  const bool logged = nvJitLinkGetErrorLogSize(link, &n) == NVJITLINK_SUCCESS && n > 1;
  nvJitLinkDestroy(&link);
  return right && logged;
}

size_t options_wrongly_taken(const std::string& ptx) {
  size_t wrong = 0;
  for (const char* option : {"-maxrregcount=", "-maxrregcount", "-bogus"}) wrong += !refused(ptx, option, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, NVJITLINK_SUCCESS);
  for (const char* option : {"-maxrregcount=abc", "-maxrregcount=16x", "-maxrregcount=1e2"}) wrong += !refused(ptx, option, NVJITLINK_SUCCESS, NVJITLINK_ERROR_PTX_COMPILE);
  return wrong;
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  const char* const arch = "-arch=sm_100a";
  size_t wrong = wrong_values(compiled(kWhole, {arch}, nvrtcGetCUBINSize, nvrtcGetCUBIN));
  const auto ptx = [&](const char* source) { return compiled(source, {arch, "-rdc=true"}, nvrtcGetPTXSize, nvrtcGetPTX); };
  wrong += wrong_values(linked(NVJITLINK_INPUT_PTX, {ptx(kKernel), ptx(kPart)}, {arch}));
  wrong += wrong_values(linked(NVJITLINK_INPUT_PTX, {kOldPart, ptx(kKernel)}, {arch, "-maxrregcount=16"}), 24);
  for (const char* many : {"-maxrregcount=0x20", "-maxrregcount=+32", "-maxrregcount=-1", "-maxrregcount=300"}) require(wrong_values(linked(NVJITLINK_INPUT_PTX, {kOldPart, ptx(kKernel)}, {arch, many})) == 0, many);
  wrong += options_wrongly_taken(kOldPart);
  const auto ltoir = [&](const char* source) { return compiled(source, {arch, "-rdc=true", "-dlto"}, nvrtcGetLTOIRSize, nvrtcGetLTOIR); };
  wrong += wrong_values(linked(NVJITLINK_INPUT_LTOIR, {ltoir(kKernel), ltoir(kPart)}, {arch, "-lto"}));
  return verdict(wrong, 128);
}
