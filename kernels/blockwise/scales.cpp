#include "kernels/blockwise/scales.h"

#include <bit>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"

namespace drywell::kernels::blockwise {

using namespace isa;

layout::BlockwiseScale ScaleConfig::layout() const {
  const auto major = [](isa::Major which) { return which == isa::Major::k ? layout::Major::k : layout::Major::mn; };
  return {m, n, k, major(a_major), major(b_major)};
}

ScaleShape scale_shape(uint64_t mn, uint64_t k, uint32_t granularity_mn, uint32_t granularity_k, isa::Major major) {
  ScaleShape s{.rows = ceil_div(mn, granularity_mn), .factors = ceil_div(k, granularity_k)};
  s.row_stride = major == isa::Major::mn ? 1 : s.factors;
  s.k_stride = major == isa::Major::mn ? s.rows : 1;
  return s;
}

bool whole_quadruples(const ScaleShape& s, isa::Major major, uint32_t stage_rows, uint32_t stage_factors) {
  return major == isa::Major::mn ? stage_rows % 4 == 0 && s.rows % 4 == 0 : stage_factors % 4 == 0 && s.factors % 4 == 0;
}

std::vector<float> scale_image(const std::vector<float>& logical, const ScaleShape& s) {
  std::vector<float> out(s.count());
  for (uint64_t r = 0; r < s.rows; ++r) {
    for (uint64_t f = 0; f < s.factors; ++f) out[r * s.row_stride + f * s.k_stride] = logical[r * s.factors + f];
  }
  return out;
}

ScaleView load_view(KernelBuilder& k, Reg from, int64_t offset) {
  const Reg at = k.def("ld.u64", mem(from, offset));
  const auto number = [&](int64_t field) { return k.def("ld.u32", mem(from, offset + field)); };
  return {at, number(8), number(12), number(16), number(20)};
}

Reg quotient(KernelBuilder& k, Reg value, uint32_t divisor) {
  DRYWELL_CHECK(std::has_single_bit(divisor), "quotient: no power of two");
  return divisor == 1 ? value : k.def("shr.u32", value, std::countr_zero(divisor));
}

StageCopier::StageCopier(KernelBuilder& k, const StageScales& s, const ScaleView& view, Reg first_row, Reg lane) : k_(k), s_(s), view_(view) {
  const bool rows_first = s.major == isa::Major::mn;
  const uint32_t fast = rows_first ? s.rows : s.factors;
  width_ = s.wide ? 4 : 1;
  lane_bytes_ = k.def("shl.b32", lane, s.wide ? 4 : 2);
  step_ = k.def("mul.wide.u32", view.k_stride, 4 * s.factors);
  if (s.count() < 32 * width_) {
    inside_ = k.reg(Mod::pred);
    k("setp.lt.u32", inside_, lane, s.count() / width_);
  }
  const Reg first = s.wide ? k.def("shl.b32", lane, 2) : lane;
  for (uint32_t done = 0; done < s.count(); done += 32 * width_) {
    const Reg at = k.def("add.u32", first, done), quick = k.def("and.b32", at, fast - 1), slow = quotient(k, at, fast);
    const Reg row = k.def("add.u32", first_row, rows_first ? quick : slow);
    Chunk c;
    c.factor = k.def("mov.b32", rows_first ? slow : quick);
    c.row_exists = k.reg(Mod::pred);
    k("setp.lt.u32", c.row_exists, row, view.rows);
    const Reg index = k.def("mad.lo.u32", row, view.row_stride, k.def("mul.lo.u32", c.factor, view.k_stride));
    c.from = k.def("mad.wide.u32", index, 4, view.at);
    chunks_.push_back(c);
  }
}

void StageCopier::copy(Reg to) {
  const Reg base = k_.def("add.u32", to, lane_bytes_);
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& c = chunks_[i];
    const Reg exists = k_.reg(Mod::pred);
    k_("setp.lt.and.u32", exists, c.factor, view_.factors, c.row_exists);
    const Reg from = k_.def("selp.b64", c.from, view_.at, exists), bytes = k_.def("selp.b32", 4 * width_, 0, exists);
    const std::vector<Arg> operands = {mem(base, static_cast<int64_t>(128 * width_ * i)), mem(from), 4 * width_, bytes};
    const OpText op("cp.async.ca.shared.global");
    inside_.valid() ? k_.when(inside_).emit(op, operands) : k_.emit(op, operands);
    k_("add.s64", c.from, c.from, step_);
    k_("add.u32", c.factor, c.factor, s_.factors);
  }
}

}  // namespace drywell::kernels::blockwise
