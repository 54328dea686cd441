#include "sim/check/operand_strides.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "drywell/isa/spec.h"
#include "sim/engine/umma_form.h"

namespace drywell::sim::check {
namespace {

constexpr uint64_t kStart = 0x3FFF;  // the field of the start address

// Rows that cross the swizzle span are continued elsewhere in that mode.
bool overlaps(const isa::SmemDescriptor& d, const isa::OperandTile& tile) {
  if (d.lbo_absolute) return false;
  std::vector<uint32_t> chunks(tile.chunks());
  isa::operand_row_chunks(d, tile, chunks);
  std::sort(chunks.begin(), chunks.end());
  return std::adjacent_find(chunks.begin(), chunks.end()) != chunks.end();
}

// Each row of A has 32 bytes, compressed or not.
isa::OperandTile tile_of(isa::Mod type, bool transposed, uint32_t mn, uint32_t depth) {
  const uint32_t bits = isa::type_bits(type);
  const isa::SmemElement element = bits == 16 ? isa::SmemElement::half : bits == 32 ? isa::SmemElement::word
                                                                                    : isa::SmemElement::byte;
  return {transposed ? isa::Major::mn : isa::Major::k, element, mn, depth * 8 / bits};
}

}  // namespace

std::string OperandStrides::describe(const char* name, uint64_t word, isa::SmemDescriptorFormat format, const isa::OperandTile& tile) {
  const auto [at, fresh] = known_.try_emplace({word & ~kStart, tile.major, tile.element, tile.mn, tile.k}, false);
  const isa::SmemDescriptor d = isa::SmemDescriptor::decode(word, format);
  if (fresh) at->second = overlaps(isa::SmemDescriptor::decode(word & ~kStart, format), tile);
  if (!at->second) return {};
  return fmt::format("{}, {} x {} elements of K, {}-major, swizzle {}: leading-dimension byte offset {}, stride-dimension byte offset {} (descriptor {:#018x})", name, tile.mn, tile.k,
                     tile.major == isa::Major::k ? "K" : "MN", to_string(d.swizzle().value_or(isa::Swizzle::none)), d.lbo, d.sbo, word);
}

std::string OperandStrides::overlap(const Umma& u) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return {};
  const std::string a = u.a_in_tmem ? std::string() : describe("A", u.a, isa::SmemDescriptorFormat::tcgen05, f.a);
  return !a.empty() ? a : describe("B", u.b, isa::SmemDescriptorFormat::tcgen05, f.b);
}

std::string OperandStrides::overlap(const Wgmma& p) {
  constexpr uint32_t kRows = 64, kDepth = 32;
  const std::string a = p.a_in_registers ? std::string() : describe("A", p.a, isa::SmemDescriptorFormat::wgmma, tile_of(p.a_type, p.trans_a, kRows, kDepth));
  return !a.empty() ? a : describe("B", p.b, isa::SmemDescriptorFormat::wgmma, tile_of(p.b_type, p.trans_b, p.n, p.sparse ? 2 * kDepth : kDepth));
}

}  // namespace drywell::sim::check
