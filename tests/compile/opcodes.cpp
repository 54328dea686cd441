// Opcodes that do not compile, one for each value of MISTAKE; without one this file compiles. tests/compile/CMakeLists.txt compares the
// compiler's messages.
#include <string>

#include "drywell/isa/builder.h"
#include "drywell/isa/typed.h"

using namespace drywell::isa;

void emit(KernelBuilder& k, Reg a, Reg p, const std::string& text, const char* pointer) {
  k("add.u32", a, a, 1);
  k.when(p)("st.shared.v2.u32", mem(a), vec(a, a));
  k(OpText(text), a, a, 1);
  k(OpText(pointer), a, a, 1);
  constexpr const char* kAdd = "add.u32";
  k(kAdd, a, a, k.def("mov.u32", SpecialReg::tid_x));
#if MISTAKE == 1
  k("tcgen05.mmaa.cta_group::1.kind::f16", mem(a), a, a, a, p);
#elif MISTAKE == 2
  k("tcgen05.mma.cta_group::1.kind::f17", mem(a), a, a, a, p);
#elif MISTAKE == 3
  k("add.ftz.u32", a, a, 1);
#elif MISTAKE == 4
  k("tcgen05.ld.sync.aligned.x32.b32", a, mem(a));
#elif MISTAKE == 5
  k.def("add.u32", a);
#elif MISTAKE == 6
  k.when(p)("add.u32", a, a);
#elif MISTAKE == 7
  k(text, a, a, 1);
#elif MISTAKE == 8
  k(pointer, a, a, 1);
#elif MISTAKE == 9
  k.emit("cvt.rn.f32.bf16x2", {a, a});
#elif MISTAKE == 10
  Typed(k).add_int({.type = Mod::f32}, a, 1);
#elif MISTAKE == 11
  Typed(k).add_int({}, a, 1);
#endif
}
