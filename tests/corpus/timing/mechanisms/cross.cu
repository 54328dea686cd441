// Chains of dependent instructions of two kinds in turns: the latency of a result that stays in its pipe, or goes to another.
#define CHAIN(name, first, second)                                                        \
  extern "C" __global__ void cross_##name(unsigned* y, int n, unsigned b, unsigned c) {   \
    unsigned x = threadIdx.x;                                                             \
    for (int i = 0; i < n; ++i) {                                                         \
      for (int j = 0; j < 16; ++j) { first second }                                       \
    }                                                                                     \
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;                                         \
  }
#define LOP_ asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(b), "r"(c));
#define ADD_ asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(b), "r"(c));
#define ROT_ asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(x) : "r"(b), "r"(c));
#define SHL_ asm volatile("shl.b32 %0, %0, 3;" : "+r"(x) : "r"(b), "r"(c));
#define MAD_ asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(b), "r"(c));
#define SEL_ asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %2, %0, p;}" : "+r"(x) : "r"(b), "r"(c));
#define FMA_ asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(b), "r"(c));
#define HFMA_ asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(b), "r"(c));
#define HI_ asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(b), "r"(c));
#define POPC_ asm volatile("popc.b32 %0, %0;" : "+r"(x) : "r"(b), "r"(c));
#define EX2_ asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(x) : "r"(b), "r"(c));
CHAIN(lop_lop, LOP_, LOP_)
CHAIN(mad_mad, MAD_, MAD_)
CHAIN(sel_sel, SEL_, SEL_)
CHAIN(fma_fma, FMA_, FMA_)
CHAIN(hfma_hfma, HFMA_, HFMA_)
CHAIN(hi_hi, HI_, HI_)
CHAIN(popc_popc, POPC_, POPC_)
CHAIN(ex2_ex2, EX2_, EX2_)
CHAIN(lop_add, LOP_, ADD_)
CHAIN(lop_rot, LOP_, ROT_)
CHAIN(lop_mad, LOP_, MAD_)
CHAIN(lop_fma, LOP_, FMA_)
CHAIN(lop_shl, LOP_, SHL_)
CHAIN(lop_hi, LOP_, HI_)
CHAIN(add_fma, ADD_, FMA_)
CHAIN(mad_fma, MAD_, FMA_)
CHAIN(fma_sel, FMA_, SEL_)
CHAIN(fma_shl, FMA_, SHL_)
CHAIN(hi_hfma, HI_, HFMA_)
CHAIN(ex2_fma, EX2_, FMA_)
CHAIN(popc_lop, POPC_, LOP_)
