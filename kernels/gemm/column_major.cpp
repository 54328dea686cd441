// Column-major C and D: the staging buffer holds columns of a warp's rows, not swizzled; a warp stores one column at a time.
#include "kernels/gemm/epilogue_state.h"

namespace drywell::kernels::gemm {

using namespace isa;

void GemmDevice::add_source_columns(EpilogueState& s, const RegArray& acc, Reg buffer) {
  const Reg at = k_.def("add.u32", buffer, s.place);
  for (uint32_t i = 0; i < acc.size(); ++i) {
    const Arg from = mem(at, i * p_.warp_rows() * p_.output_bytes());
    const Reg c = c_.output == TensorType::f32    ? k_.def("ld.shared.f32", from)
                  : c_.output == TensorType::bf16 ? k_.def("cvt.f32.bf16", k_.def("ld.shared.b16", from))
                                                  : k_.def("cvt.f32.f16", k_.def("ld.shared.b16", from));
    k_("fma.rn.f32", acc[i], c, s.beta, acc[i]);
  }
}

void GemmDevice::store_columns(EpilogueState& s, const RegArray& acc, Reg buffer) {
  const Reg at = k_.def("add.u32", buffer, s.place);
  for (uint32_t i = 0; i < acc.size(); ++i) {
    const Arg to = mem(at, i * p_.warp_rows() * p_.output_bytes());
    if (c_.output == TensorType::f32) {
      k_("st.shared.f32", to, acc[i]);
    } else {
      k_("st.shared.b16", to, k_.def(OpText(c_.output == TensorType::bf16 ? "cvt.rn.bf16.f32" : "cvt.rn.f16.f32"), acc[i]));
    }
  }
}

}  // namespace drywell::kernels::gemm
