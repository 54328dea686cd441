#include "cudart_program.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int, size_t bytes, int, int);
}

namespace program {

const char kAxpy[1] = {}, kStore[1] = {}, kTrap[1] = {}, kClusterSize[1] = {};
char kTable[1] = {};

namespace {

constexpr char kPtx[] = R"(.version 8.7
.target sm_100
.address_size 64
.visible .global .align 4 .f32 table[4] = {1.0, 2.0, 3.0, 4.0};
.visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r1, %r4;
  @%p bra done;
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [x];
  ld.param.f32 %f1, [a];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd5];
  ld.global.f32 %f3, [%rd4];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd4], %f3;
done:
  ret;
}
.visible .entry store(.param .u64 p)
{
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 1;
  ret;
}
.visible .entry stop()
{
  trap;
}
.visible .entry cluster_size(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  and.b32 %r1, %r1, 7;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, %cluster_nctaid.x;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

/// The actions of nvcc's host code before and after main (crt/host_runtime.h). The runtime accepts PTX in place of a fat binary.
class Registration {
 public:
  Registration() : handle_(__cudaRegisterFatBinary(&wrapper_)) {
    function(kAxpy, "axpy");
    function(kStore, "store");
    function(kTrap, "stop");
    function(kClusterSize, "cluster_size");
    __cudaRegisterVar(handle_, kTable, kTable, "table", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Registration() { __cudaUnregisterFatBinary(handle_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  void function(const char* host, const char* name) {
    __cudaRegisterFunction(handle_, host, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  drywell::cudart::FatbinWrapper wrapper_{drywell::cudart::kFatbinWrapperMagic, 1, kPtx, nullptr};
  void** handle_;
};

const Registration kRegistration;

}  // namespace
}  // namespace program
