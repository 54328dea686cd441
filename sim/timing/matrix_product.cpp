#include "sim/timing/matrix_product.h"

#include "drywell/isa/mma_shape.h"
#include "drywell/isa/wmma_shape.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Operand;
using isa::Slot;

bool is_float8(Mod t) { return t == Mod::e4m3 || t == Mod::e5m2; }
bool is_signed_4(Mod t) { return t == Mod::s4; }
bool is_integer_4(Mod t) { return t == Mod::s4 || t == Mod::u4; }

// Matrix pipes of sm_89 and sm_120 multiply 8-bit floats (QMMA); others multiply halves.
bool multiplies_floats8(isa::Target t) { return t == isa::Target::sm_89 || t >= isa::Target::sm_120; }

// ptxas calls a routine: it moves registers there and back, and the warp waits for the call and the return.
constexpr unsigned kCall = 32;

template <class F>
void each_register(const isa::Function& f, const Operand& o, F&& visit) {
  if (o.kind == Operand::Kind::reg) visit(o.index);
  if (o.kind != Operand::Kind::vec) return;
  for (const Operand& e : f.elements(o)) each_register(f, e, visit);
}

unsigned registers_of(const isa::Function& f, const Operand& o) {
  unsigned n = 0;
  each_register(f, o, [&](isa::RegId) { ++n; });
  return n;
}

// Rows of 16 bytes take two thirds of the time (product_* of products.toml, traces/hw/h200-2026-11-27-crossings.csv).
constexpr double kHalf = 0.67;
constexpr unsigned kHalfRow = 128;  // bits

// Shapes that only wmma has. Those of 8 x 8 are mma.sync's, too.
bool is_fragment_shape(Mod shape) { return shape == Mod::m16n16k16 || shape == Mod::m32n8k16 || shape == Mod::m8n32k16 || shape == Mod::m16n16k8; }

// ptxas makes one of wmma of machine instructions with 16 x 8 sums: two HMMA.16816 of m16n16k16, four HMMA.1684 with rows of 16 bytes of tf32
// (wmma_* of tests/corpus/timing/mechanisms/tiles.cu). A product of halves does not name their type.
MatrixProduct of_fragments(const isa::Instruction& i) {
  constexpr unsigned kSums = 16 * 8, kTf32Steps = 2;
  const isa::WmmaShape shape = isa::wmma_shape(i.mod(Slot::shape));
  const Mod type = i.mod(Slot::atype) == Mod::none ? Mod::f16 : i.mod(Slot::atype);
  const unsigned steps = type == Mod::tf32 ? kTf32Steps : 1, products = steps * shape.m * shape.n / kSums;
  const double times = shape.k / steps * isa::type_bits(type) <= kHalfRow ? kHalf : 1;
  return {products * times, static_cast<uint16_t>(products), 0};
}

// One product waits for the one before, and little else issues: what four warps of a sub-partition take each, and one alone.
MatrixProduct routine(double times, unsigned instructions) {
  constexpr double kMore = 1.3;
  constexpr uint16_t kWait = 70;
  const unsigned slots = instructions + kCall;
  return {times, static_cast<uint16_t>(slots), static_cast<uint16_t>(kMore * slots + kWait)};
}

}  // namespace

// Halves of A and B, a product of each half of k, the second after the first, and the sums with C. Halves that the block has made
// before are there.
MatrixProduct MatrixProducts::of_floats8(const isa::Function& f, const isa::Instruction& i, double times) {
  constexpr unsigned kMetadata = 66;  // sparse: choices and shuffles of the metadata
  constexpr size_t kDense = 4;        // operands: D, A, B, C
  unsigned slots = 2 + registers_of(f, f.operands(i)[0]) + (f.operands(i).size() > kDense ? kMetadata : 0);
  for (const size_t k : {1, 2}) each_register(f, f.operands(i)[k], [&](isa::RegId r) { slots += halves_.insert(r).second ? 2 : 0; });
  return {2 * times, static_cast<uint16_t>(slots), 0};
}

// 4-bit integers are products of 8-bit ones, signs cost most; bits are the sum of two counts, and sm_100 counts by products.
MatrixProduct MatrixProducts::of_bits(const isa::Function& f, const isa::Instruction& i, double times) const {
  const auto operands = f.operands(i);
  const unsigned a = registers_of(f, operands[1]), b = registers_of(f, operands[2]);
  if (is_integer_4(i.mod(Slot::atype))) {
    const unsigned with_sign = (is_signed_4(i.mod(Slot::atype)) ? a : 0) + (is_signed_4(i.mod(Slot::btype)) ? b : 0);
    return routine(2 * times, 9 + 8 * (a + b) / 3 + 27 * with_sign);
  }
  if (target_ >= isa::Target::sm_100) return routine(8 * times, 34 + 12 * (a + b));
  return i.has(Mod::and_) ? MatrixProduct{times, 1, 0} : routine(2 * times, 5 + 3 * (a + b) / 2);
}

MatrixProduct MatrixProducts::of(const isa::Function& f, const isa::Instruction& i) {
  const Mod type = i.mod(Slot::atype);
  if (isa::type_bits(i.mod(Slot::dtype)) == 64) return {};
  if (is_fragment_shape(i.mod(Slot::shape))) return of_fragments(i);
  const unsigned bits = isa::type_bits(type), row = isa::mma_shape(i.mod(Slot::shape)).k * bits;
  const double times = row <= kHalfRow ? kHalf : 1;
  if (is_float8(type) && !multiplies_floats8(target_)) return of_floats8(f, i, times);
  return is_integer_4(type) || bits == 1 ? of_bits(f, i, times) : MatrixProduct{times, 1, 0};
}

void MatrixProducts::writes(const isa::Function& f, const isa::Instruction& i) {
  if (halves_.empty() || f.operands(i).empty()) return;
  each_register(f, f.operands(i)[0], [this](isa::RegId r) { halves_.erase(r); });
}

}  // namespace drywell::sim
