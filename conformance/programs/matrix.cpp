// Fragments of 8x8 matrices to, from and across the lanes of a warp (PTX ISA 9.7.14.5.15-17). A lane's cell in shared memory
// holds the row that the lane addresses: 16 bytes.
#include <fmt/format.h>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

using In = std::span<const std::array<uint64_t, 32>>;
using Out = std::span<std::array<uint64_t, 32>>;

constexpr unsigned kCellWords = 4;

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, WarpFn expect) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = std::move(operands);
  f.expect_warp = std::move(expect);
  out.push_back(lane_program("matrix", std::move(f)));
}

std::string words(unsigned count) { return "{" + std::string(count, 'w') + "}"; }

uint64_t half(In cells, unsigned row, unsigned column) { return cells[column / 2][row] >> (16 * (column % 2)) & 0xFFFF; }
void set_half(Out cells, unsigned row, unsigned column, uint64_t v) {
  const unsigned shift = 16 * (column % 2);
  cells[column / 2][row] = (cells[column / 2][row] & ~(uint64_t{0xFFFF} << shift)) | (v & 0xFFFF) << shift;
}

// Lane l holds elements 2 * (l % 4) and the next of row l / 4; with .trans those of the transposed matrix.
void eight_by_eight(std::vector<ProgramSpec>& out, unsigned count, bool trans) {
  const std::string form = fmt::format("m8n8.x{}{}.shared.b16", count, trans ? ".trans" : "");
  add(out, "ldmatrix.sync.aligned." + form, words(count) + "=M" + words(kCellWords), [count, trans](In in, Out o) {
    for (unsigned m = 0; m < count; ++m) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned line = lane / 4, along = 2 * (lane % 4);
        o[m][lane] = trans ? half(in, 8 * m + along, line) | half(in, 8 * m + along + 1, line) << 16
                           : half(in, 8 * m + line, along) | half(in, 8 * m + line, along + 1) << 16;
      }
    }
    for (unsigned w = 0; w < kCellWords; ++w) o[count + w] = in[w];
  });
  add(out, "stmatrix.sync.aligned." + form, "=M" + words(kCellWords) + words(count), [count, trans](In in, Out o) {
    for (unsigned w = 0; w < kCellWords; ++w) o[w] = in[count + w];
    for (unsigned m = 0; m < count; ++m) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned h = 0; h < 2; ++h) {
          const unsigned line = lane / 4, along = 2 * (lane % 4) + h;
          set_half(o, 8 * m + (trans ? along : line), trans ? line : along, in[m][lane] >> (16 * h));
        }
      }
    }
  });
}

// Rows of 16 elements packed from the lowest bit, then padding; each element becomes a byte (docs/facts/tcgen05.md §3).
void unpacked(std::vector<ProgramSpec>& out, unsigned count, unsigned bits) {
  add(out, fmt::format("ldmatrix.sync.aligned.m8n16.x{}.shared.b8x16.{}", count, bits == 4 ? "b4x16_p64" : "b6x16_p32"), words(count) + "=M" + words(kCellWords),
      [count, bits](In in, Out o) {
        for (unsigned m = 0; m < count; ++m) {
          for (unsigned lane = 0; lane < 32; ++lane) {
            o[m][lane] = 0;
            for (unsigned e = 0; e < 4; ++e) {
              for (unsigned b = 0; b < bits; ++b) {
                const unsigned bit = (lane % 4 * 4 + e) * bits + b;
                o[m][lane] |= (in[bit / 32][8 * m + lane / 4] >> (bit % 32) & 1) << (8 * e + b);
              }
            }
          }
        }
        for (unsigned w = 0; w < kCellWords; ++w) o[count + w] = in[w];
      });
}

// Bytes of transposed matrices (the pictures of 9.7.14.5.15-16). A load gives lane l four adjacent rows of column l / 4, and in the second
// register of a matrix those of the column eight later; a register of a store has both columns, each of two adjacent rows.
uint64_t byte_at(In cells, unsigned row, unsigned column) { return cells[column / 4][row] >> 8 * (column % 4) & 0xFF; }
void bytes(std::vector<ProgramSpec>& out, unsigned count) {
  if (count <= 2) {
    add(out, fmt::format("ldmatrix.sync.aligned.m16n16.x{}.trans.shared.b8", count), words(2 * count) + "=M" + words(kCellWords), [count](In in, Out o) {
      for (unsigned r = 0; r < 2 * count; ++r) {
        for (unsigned lane = 0; lane < 32; ++lane) {
          const unsigned row = 16 * (r / 2) + 4 * (lane % 4), column = lane / 4 + 8 * (r % 2);
          o[r][lane] = byte_at(in, row, column) | byte_at(in, row + 1, column) << 8 | byte_at(in, row + 2, column) << 16 | byte_at(in, row + 3, column) << 24;
        }
      }
      for (unsigned w = 0; w < kCellWords; ++w) o[2 * count + w] = in[w];
    });
  }
  add(out, fmt::format("stmatrix.sync.aligned.m16n8.x{}.trans.shared.b8", count), "=M" + words(kCellWords) + words(count), [count](In in, Out o) {
    for (unsigned w = 0; w < kCellWords; ++w) o[w] = in[count + w];
    for (unsigned r = 0; r < count; ++r) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned b = 0; b < 4; ++b) {
          const unsigned row = 8 * r + 2 * (lane % 4) + b % 2, column = lane / 4 + 8 * (b / 2), shift = 8 * (column % 4);
          o[column / 4][row] = (o[column / 4][row] & ~(uint64_t{0xFF} << shift)) | (in[r][lane] >> 8 * b & 0xFF) << shift;
        }
      }
    }
  });
}

void transposed_fragment(std::vector<ProgramSpec>& out) {
  add(out, "movmatrix.sync.aligned.m8n8.trans.b16", "w=w", [](In in, Out o) {
    const auto element = [&](unsigned row, unsigned column) { return in[0][row * 4 + column / 2] >> (16 * (column % 2)) & 0xFFFF; };
    for (unsigned lane = 0; lane < 32; ++lane) o[0][lane] = element(lane % 4 * 2, lane / 4) | element(lane % 4 * 2 + 1, lane / 4) << 16;
  });
}

}  // namespace

void add_matrix(std::vector<ProgramSpec>& out) {
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool trans : {false, true}) eight_by_eight(out, count, trans);
    for (const unsigned bits : {4u, 6u}) unpacked(out, count, bits);
    bytes(out, count);
  }
  transposed_fragment(out);
}

}  // namespace drywell::kernels::conformance
