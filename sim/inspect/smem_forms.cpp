#include "sim/inspect/smem_forms.h"

#include <algorithm>

namespace drywell::sim {
namespace {

constexpr uint32_t kWord = 4, kWordBits = 32, kChunkBytes = 16;

/// The block of one word of a run of elements whose first one is at bit 0 of the run; false if no whole element is in it.
bool word_block(isa::TmemBlock& b, uint32_t word, uint32_t bits) {
  const uint32_t first = (word * kWordBits + bits - 1) / bits, end = (word + 1) * kWordBits / bits;
  if (end <= first) return false;
  b.index += first;
  b.per_column = static_cast<uint8_t>(end - first);
  b.low = static_cast<uint8_t>(first * bits - word * kWordBits);
  return true;
}

}  // namespace

void add_blocks(std::vector<isa::TmemBlock>& out, uint32_t address, uint32_t bytes, uint32_t row, uint32_t index, uint32_t bits) {
  const uint32_t value = std::min(bits, kWordBits);  // of 64 bits: the low word
  if (kWordBits % bits == 0 && address % kSmemLineBytes + bytes <= kSmemLineBytes) {
    out.push_back({.lane = static_cast<uint16_t>(address / kSmemLineBytes), .lanes = 1, .column = static_cast<uint16_t>(address % kSmemLineBytes / kWord), .columns = static_cast<uint16_t>(bytes / kWord), .row = row, .index = index, .per_column = static_cast<uint8_t>(kWordBits / bits), .bits = static_cast<uint8_t>(bits), .stride = static_cast<uint8_t>(bits)});
    return;
  }
  for (uint32_t word = 0; word < bytes / kWord; ++word) {
    isa::TmemBlock b{.lanes = 1, .columns = 1, .row = row, .index = index, .bits = static_cast<uint8_t>(value), .stride = static_cast<uint8_t>(value)};
    const uint32_t at = address + kWord * word;
    b.lane = static_cast<uint16_t>(at / kSmemLineBytes);
    b.column = static_cast<uint16_t>(at % kSmemLineBytes / kWord);
    if (bits > kWordBits) b.index += word / 2;
    if (bits > kWordBits ? word % 2 == 0 : word_block(b, word, bits)) out.push_back(b);
  }
}

std::vector<isa::TmemBlock> box_blocks(const TensorPlan& plan, uint32_t smem) {
  std::vector<isa::TmemBlock> out;
  const uint32_t stored = isa::smem_element_bits(plan.map.type), bits = isa::element_bits(plan.map.type);
  uint32_t row = 0;
  for (const isa::TileRow& r : plan.box.rows) {
    for_runs(plan, smem, r, [&](uint32_t byte, uint32_t at, uint32_t bytes) {
      for (uint32_t b = 0; b < bytes; b += kChunkBytes)
        add_blocks(out, at + b, std::min(bytes - b, kChunkBytes) * bits / stored, row, (byte + b) * 8 / stored, bits);
    });
    ++row;
  }
  return out;
}

std::vector<isa::TmemBlock> operand_blocks(const isa::SmemDescriptor& d, const isa::OperandTile& tile, uint32_t first_row) {
  std::vector<isa::TmemBlock> out;
  const uint32_t per_chunk = 128 / storage_bits(tile.element), bits = value_bits(tile.element);
  const uint32_t along = tile.major == isa::Major::k ? tile.k : tile.mn;
  for (uint32_t line = 0; line < tile.lines(); ++line) {
    for (uint32_t chunk = 0; chunk < tile.chunks_per_line(); ++chunk) {
      const uint32_t at = operand_chunk_address(d, tile.major, line, chunk), first = chunk * per_chunk;
      const uint32_t bytes = std::min(per_chunk, along - first) * bits / 8;
      if (tile.major == isa::Major::k) {
        add_blocks(out, at, bytes, first_row + line, first, bits);
        continue;
      }
      // Along a line the row changes: every element is a block of its own.
      for (uint32_t e = 0; e < bytes * 8 / bits; ++e) {
        const uint32_t bit = e * bits, byte = at + bit / 8;
        if (bit % kWordBits + bits > kWordBits) continue;
        out.push_back({.lane = static_cast<uint16_t>(byte / kSmemLineBytes), .lanes = 1, .column = static_cast<uint16_t>(byte % kSmemLineBytes / kWord), .columns = 1, .row = first_row + first + e, .index = line, .low = static_cast<uint8_t>((at * 8 + bit) % kWordBits), .bits = static_cast<uint8_t>(bits), .stride = static_cast<uint8_t>(bits)});
      }
    }
  }
  return out;
}

std::string element_name(isa::TensorType t) {
  switch (t) {
    case isa::TensorType::f32:
    case isa::TensorType::f32_ftz: return "f32";
    case isa::TensorType::tf32:
    case isa::TensorType::tf32_ftz: return "tf32";
    case isa::TensorType::s32: return "s32";
    default: break;
  }
  if (isa::element_bits(t) == 4) return "e2m1";
  return std::string(isa::to_string(t));
}

}  // namespace drywell::sim
