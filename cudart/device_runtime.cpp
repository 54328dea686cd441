#include "cudart/device_runtime.h"

#include <algorithm>
#include <string>

#include "drywell/isa/parse.h"

namespace drywell::cudart {
namespace {

// The first CTA adds what turns the word's upper bit when all others have added one.
constexpr std::string_view kGridBarrier = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 drywell_grid_arrivals;
.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b64 %rd<3>;
  mov.u64 %rd1, drywell_grid_arrivals;
  cvta.global.u64 %rd2, %rd1;
  st.param.b64 [result], %rd2;
  ret;
}
.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<2>;
  ld.param.b64 %rd1, [handle];
  bar.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra JOIN;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mov.u32 %r6, %nctaid.z;
  mul.lo.u32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, %r6;
  sub.u32 %r4, 0x80000001, %r4;
  mov.u32 %r7, %ctaid.x;
  mov.u32 %r8, %ctaid.y;
  mov.u32 %r9, %ctaid.z;
  or.b32 %r7, %r7, %r8;
  or.b32 %r7, %r7, %r9;
  setp.eq.u32 %p2, %r7, 0;
  selp.u32 %r10, %r4, 1, %p2;
  fence.acq_rel.gpu;
  atom.add.release.gpu.u32 %r11, [%rd1], %r10;
WAIT:
  ld.acquire.gpu.u32 %r12, [%rd1];
  xor.b32 %r13, %r12, %r11;
  setp.ge.s32 %p3, %r13, 0;
  @%p3 bra WAIT;
  fence.acq_rel.gpu;
JOIN:
  bar.sync 0;
  mov.u32 %r14, 0;
  st.param.b32 [result], %r14;
  ret;
}
)";

// A condition's handle is the address of its word (cudart/graph_work.cpp).
constexpr std::string_view kSetConditional = R"(.version 8.0
.target sm_90
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.b64 %rd1, [handle];
  ld.param.b32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

struct Unit {
  std::string_view function, ptx;
};
constexpr Unit kUnits[] = {{"cudaCGSynchronize", kGridBarrier}, {"cudaGraphSetConditional", kSetConditional}};

bool needs(const std::vector<isa::Module>& units, std::string_view name) {
  bool declared = false, defined = false;
  for (const isa::Module& m : units) {
    for (const isa::Function& f : m.functions) {
      if (f.name == name) (f.is_prototype ? declared : defined) = true;
    }
  }
  return declared && !defined;
}

}  // namespace

std::string_view grid_barrier() { return kGridBarrier; }

bool uses_device_runtime(std::string_view ptx) {
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return ptx.find(u.function) != std::string_view::npos; });
}

bool is_device_runtime(const std::vector<FatbinImage>& unit) {
  return std::any_of(unit.begin(), unit.end(), [](const FatbinImage& i) { return i.kind == ImageKind::ptx && i.ptx().find("cnpLaunchDevice") != std::string::npos; });
}

void add_device_runtime(std::vector<isa::Module>& units) {
  for (const Unit& u : kUnits) {
    if (needs(units, u.function)) units.push_back(isa::parse_ptx_or_throw(u.ptx, "libcudadevrt"));
  }
}

}  // namespace drywell::cudart
