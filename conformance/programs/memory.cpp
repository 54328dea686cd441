// Loads, stores, atomics and reductions on memory (PTX ISA 9.7.9, 9.7.13.12-13).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

void add(std::vector<ProgramSpec>& out, const char* family, std::string op, std::string operands, RowFn expect, std::string name = {}) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = std::move(operands);
  f.expect = std::move(expect);
  f.name = std::move(name);
  out.push_back(lane_program(family, std::move(f)));
}

// ---- loads and stores

struct Element {
  const char* type;
  char reg, cell;  // letters of the register and of the memory cell
};

uint64_t extended(const Element& e, uint64_t v) {
  if (e.type[0] != 's') return v;
  const unsigned bits = e.cell == 'b' ? 8 : e.cell == 'h' ? 16
                                        : e.cell == 'w'   ? 32
                                                          : 64;
  const uint64_t wide = static_cast<uint64_t>(static_cast<int64_t>(v << (64 - bits)) >> (64 - bits));
  return e.reg == 'w' ? wide & 0xFFFFFFFF : e.reg == 'h' ? wide & 0xFFFF
                                                         : wide;
}

void loads_and_stores(std::vector<ProgramSpec>& out) {
  constexpr Element kElements[] = {{"u8", 'w', 'b'}, {"s8", 'w', 'b'}, {"u16", 'h', 'h'}, {"s16", 'w', 'h'}, {"u32", 'w', 'w'}, {"s32", 'd', 'w'}, {"b32", 'w', 'w'}, {"f32", 'f', 'f'}, {"u64", 'd', 'd'}, {"b64", 'd', 'd'}, {"f64", 'g', 'g'}};
  for (const char* space : {"global", "shared"}) {
    for (const Element& e : kElements) {
      add(out, "memory", fmt::format("ld.{}.{}", space, e.type), fmt::format("{}=M{}", e.reg, e.cell), [e](const uint64_t* in, uint64_t* o) {
        o[0] = extended(e, in[0]);
        o[1] = in[0];
      });
      // A store from a wider register takes its low bits.
      add(out, "memory", fmt::format("st.{}.{}", space, e.type), fmt::format("=M{}{}", e.cell, e.reg), [](const uint64_t* in, uint64_t* o) { o[0] = in[0]; });
    }
    for (const auto& [type, letter] : {std::pair{"u32", 'w'}, std::pair{"f32", 'f'}, std::pair{"b64", 'd'}, std::pair{"u16", 'h'}}) {
      for (const size_t n : {2, 4}) {
        if (letter == 'd' && n == 4) continue;
        const std::string vec = "{" + std::string(n, letter) + "}";
        add(out, "memory", fmt::format("ld.{}.v{}.{}", space, n, type), vec + "=M" + vec, [n](const uint64_t* in, uint64_t* o) {
          for (size_t i = 0; i < n; ++i) o[i] = o[n + i] = in[i];
        });
        add(out, "memory", fmt::format("st.{}.v{}.{}", space, n, type), "=M" + vec + vec, [n](const uint64_t* in, uint64_t* o) { std::copy_n(in, n, o); });
      }
    }
  }
}

// ---- read-modify-write

/// Returns the cell's new value, from the old value and the operands.
using Update = std::function<uint64_t(uint64_t old, const uint64_t* operands)>;

// atom returns the old value, red has no result. Signature order: operands come before cells in the row.
void update(std::vector<ProgramSpec>& out, const char* op, const char* type, char letter, size_t operands, Update f, bool has_red = true) {
  const std::string inputs(operands, letter);
  for (const char* space : {"global", "shared"}) {
    add(out, "atomic", fmt::format("atom.{}.{}.{}", space, op, type), fmt::format("{0}=M{0}{1}", letter, inputs), [=](const uint64_t* in, uint64_t* o) {
      o[0] = in[operands];
      o[1] = f(in[operands], in);
    });
    if (!has_red) continue;
    add(out, "atomic", fmt::format("red.{}.{}.{}", space, op, type), fmt::format("=M{}{}", letter, inputs),
        [=](const uint64_t* in, uint64_t* o) { o[0] = f(in[operands], in); });
  }
}

template <class T>
void integer_updates(std::vector<ProgramSpec>& out, const char* type, char letter) {
  using U = std::make_unsigned_t<T>;
  const auto as = [](uint64_t v) { return static_cast<T>(v); };
  const auto bits = [](T v) { return static_cast<uint64_t>(static_cast<U>(v)); };
  if (std::is_unsigned_v<T> || sizeof(T) == 4)
    update(out, "add", type, letter, 1, [=](uint64_t a, const uint64_t* b) { return bits(static_cast<T>(static_cast<U>(a) + static_cast<U>(b[0]))); });
  update(out, "min", type, letter, 1, [=](uint64_t a, const uint64_t* b) { return bits(std::min(as(a), as(b[0]))); });
  update(out, "max", type, letter, 1, [=](uint64_t a, const uint64_t* b) { return bits(std::max(as(a), as(b[0]))); });
}

void atomics(std::vector<ProgramSpec>& out) {
  integer_updates<uint32_t>(out, "u32", 'w');
  integer_updates<int32_t>(out, "s32", 'w');
  integer_updates<uint64_t>(out, "u64", 'd');
  integer_updates<int64_t>(out, "s64", 'd');
  for (const auto& [type, letter] : {std::pair{"b32", 'w'}, std::pair{"b64", 'd'}}) {
    update(out, "and", type, letter, 1, [](uint64_t a, const uint64_t* b) { return a & b[0]; });
    update(out, "or", type, letter, 1, [](uint64_t a, const uint64_t* b) { return a | b[0]; });
    update(out, "xor", type, letter, 1, [](uint64_t a, const uint64_t* b) { return a ^ b[0]; });
    update(
        out, "exch", type, letter, 1, [](uint64_t, const uint64_t* b) { return b[0]; }, false);
    update(
        out, "cas", type, letter, 2, [](uint64_t a, const uint64_t* b) { return a == b[0] ? b[1] : a; }, false);
  }
  // inc: old >= b ? 0 : old + 1; dec: old == 0 || old > b ? b : old - 1 (9.7.13.12).
  update(out, "inc", "u32", 'w', 1, [](uint64_t a, const uint64_t* b) { return a >= b[0] ? 0 : a + 1; });
  update(out, "dec", "u32", 'w', 1, [](uint64_t a, const uint64_t* b) { return a == 0 || a > b[0] ? b[0] : a - 1; });
}

}  // namespace

void add_memory(std::vector<ProgramSpec>& out) {
  loads_and_stores(out);
  atomics(out);
}

}  // namespace drywell::kernels::conformance
