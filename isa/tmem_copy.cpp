#include "drywell/isa/tmem_copy.h"

#include <algorithm>

#include "fmt/format.h"

namespace drywell::isa {

void decompress_unit(CopyFormat format, std::span<const uint8_t, 16> in, std::span<uint8_t, 16> out) {
  if (format == CopyFormat::none) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  const unsigned bits = format == CopyFormat::b4x16_p64 ? 4 : 6;
  const unsigned shift = bits == 4 ? kFp4ContainerShift : kFp6ContainerShift;
  // Little-endian bit stream; the last element ends inside the data, so in[byte + 1] stays within the unit.
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned byte = i * bits / 8;
    const unsigned window = in[byte] | in[byte + 1] << 8;
    out[i] = static_cast<uint8_t>((window >> (i * bits % 8) & ((1u << bits) - 1)) << shift);
  }
}

void check_copy(const SmemDescriptor& d, CopyShape shape, uint32_t lane, uint32_t column, uint32_t smem_bytes,
                Diagnostics& out, const SourcePos& where) {
  check(d, out, where);
  check_operand(d, {Major::k, SmemElement::byte, copy_rows(shape), 16 * copy_units(shape)}, smem_bytes, out,
                where);
  const uint32_t last_lane = shape == CopyShape::s4x256b ? 96 + lane : lane == 0 ? 127
                                                                                 : 128;
  if (last_lane >= kTmemLanes || column + copy_columns(shape) > kTmemColumns) {
    out.error(
        Code::E1411, where,
        fmt::format("tcgen05.cp to lane {}, column {} leaves the tensor memory", lane, column),
        shape == CopyShape::s4x256b ? "4x256b takes lanes 0..31" : "the address of this shape has lane 0");
  }
}

}  // namespace drywell::isa
