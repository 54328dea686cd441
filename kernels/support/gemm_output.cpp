#include "drywell/kernels/gemm_output.h"

#include "drywell/core/error.h"
#include "drywell/kernels/verify.h"

namespace drywell::kernels::gemm {

reference::NumberFormat number_format(numeric::Format f) {
  switch (f) {
    case numeric::Format::e2m1: return reference::NumberFormat::e2m1;
    case numeric::Format::e2m3: return reference::NumberFormat::e2m3;
    case numeric::Format::e3m2: return reference::NumberFormat::e3m2;
    case numeric::Format::e4m3: return reference::NumberFormat::e4m3;
    case numeric::Format::e5m2: return reference::NumberFormat::e5m2;
    case numeric::Format::ue4m3: return reference::NumberFormat::ue4m3;
    case numeric::Format::ue8m0: return reference::NumberFormat::ue8m0;
    case numeric::Format::f16: return reference::NumberFormat::f16;
    case numeric::Format::bf16: return reference::NumberFormat::bf16;
    default: throw InternalError("gemm: no operand format");
  }
}

reference::OutputFormat output_format(isa::TensorType t) {
  return t == isa::TensorType::f32   ? reference::OutputFormat::f32
         : t == isa::TensorType::f16 ? reference::OutputFormat::f16
                                     : reference::OutputFormat::bf16;
}

void compare_outputs(KernelReport& r, const std::vector<uint32_t>& got, const std::vector<uint32_t>& want, uint64_t columns,
                     uint32_t bytes) {
  const auto compare = [&]<class T>(T) {
    const std::vector<T> g(got.begin(), got.end()), w(want.begin(), want.end());
    compare_bits<T>(r.verify, "d", g, w, columns);
  };
  bytes == 4 ? compare(uint32_t{}) : compare(uint16_t{});
}

reference::GemmOperand reference_operand(const QuantizedMatrix& q) {
  reference::GemmOperand o;
  o.format = number_format(q.format);
  o.rows = q.rows;
  o.k = q.k;
  o.codes = q.codes.data();
  o.block = q.block;
  o.scale_format = number_format(q.scale_format);
  o.scales = q.scales.data();
  return o;
}

NpyArray output_array(const std::vector<uint32_t>& d, uint64_t rows, uint64_t columns, isa::TensorType type) {
  if (type == isa::TensorType::f32) {
    return NpyArray::of_bytes("<f4", std::as_bytes(std::span(d)), {rows, columns});
  }
  const std::vector<uint16_t> halves(d.begin(), d.end());
  return NpyArray::of_bytes(type == isa::TensorType::f16 ? "<f2" : "<V2", std::as_bytes(std::span(halves)),
                            {rows, columns});
}

uint32_t output_code(float value, isa::TensorType type) {
  return reference::gemm_output(value, 1, 0, std::nullopt, output_format(type));
}

}  // namespace drywell::kernels::gemm
