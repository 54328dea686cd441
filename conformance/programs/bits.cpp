// Bit fields, masks and sub-word dot products (PTX ISA 9.7.1.6, 9.7.1.17-24, 9.7.8.6), after the manual's pseudo-code.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect, std::function<void(uint64_t*)> prepare = {}) {
  out.push_back(lane_program("bits", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare)}));
}

// 9.7.1.17, "fns". The offset whose magnitude does not fit 32 bits gives 0 (H200: 315 masks with each of 32 bases).
uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset) {
  const auto set = [mask](int64_t i) { return (mask >> i & 1) != 0; };
  if (offset == INT32_MIN) return 0;
  if (offset == 0) return set(base) ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int64_t left = (offset > 0 ? int64_t{offset} : -int64_t{offset}) - 1;
  for (int64_t i = base; i >= 0 && i < 32; i += step) {
    if (set(i) && left-- == 0) return static_cast<uint32_t>(i);
  }
  return ~0u;
}

uint32_t limited(bool clamp, uint32_t v) { return clamp ? std::min(v, 32u) : v & 31; }

template <bool Clamp>
void masks(std::vector<ProgramSpec>& out) {
  const char* mode = Clamp ? "clamp" : "wrap";
  add(out, fmt::format("bmsk.{}.b32", mode), "w=ss", row([](uint32_t a, uint32_t b) -> uint32_t {
        return static_cast<uint32_t>(((uint64_t{1} << limited(Clamp, b)) - 1) << limited(Clamp, a));
      }));
  add(out, fmt::format("szext.{}.u32", mode), "w=ws", row([](uint32_t a, uint32_t b) -> uint32_t {
        return static_cast<uint32_t>(a & ((uint64_t{1} << limited(Clamp, b)) - 1));
      }));
  add(out, fmt::format("szext.{}.s32", mode), "w=ws", row([](uint32_t a, uint32_t b) -> uint32_t {
        const uint32_t n = limited(Clamp, b);
        if (n == 0) return 0;
        return static_cast<uint32_t>(static_cast<int32_t>(a << (32 - n)) >> (32 - n));
      }));
}

int32_t byte_of(uint32_t v, unsigned i, bool is_signed) {
  return is_signed ? static_cast<int8_t>(v >> 8 * i) : static_cast<int32_t>(v >> 8 * i & 0xFF);
}
int32_t half_of(uint32_t v, unsigned i, bool is_signed) {
  return is_signed ? static_cast<int16_t>(v >> 16 * i) : static_cast<int32_t>(v >> 16 * i & 0xFFFF);
}
const char* type32(bool is_signed) { return is_signed ? "s32" : "u32"; }

void dot_products(std::vector<ProgramSpec>& out) {
  for (const unsigned first : {0u, 2u}) {
    for (const bool sa : {false, true}) {
      for (const bool sb : {false, true}) {
        add(out, fmt::format("dp2a.{}.{}.{}", first == 0 ? "lo" : "hi", type32(sa), type32(sb)), "w=www", [=](const uint64_t* in, uint64_t* o) {
          int64_t sum = 0;
          for (unsigned i = 0; i < 2; ++i) {
            sum += int64_t{half_of(static_cast<uint32_t>(in[0]), i, sa)} * byte_of(static_cast<uint32_t>(in[1]), first + i, sb);
          }
          o[0] = static_cast<uint32_t>(static_cast<uint64_t>(sum) + in[2]);
        });
      }
    }
  }
}

void lookup(std::vector<ProgramSpec>& out) {
  for (const bool is_or : {true, false}) {
    for (const uint32_t table : {0x96u, 0xE8u, 0x01u}) {
      LaneForm f;
      f.op = fmt::format("lop3.{}.b32", is_or ? "or" : "and");
      f.operands = fmt::format("w|p=www#{:#x}p", table);
      f.name = fmt::format("{}/table{:#x}", f.op, table);
      f.expect = [=](const uint64_t* in, uint64_t* o) {
        uint32_t r = 0;
        for (unsigned i = 0; i < 32; ++i) r |= (table >> ((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1)) & 1) << i;
        o[0] = r;
        const bool any = r != 0, q = (in[3] & 1) != 0;
        o[1] = (is_or ? any || q : any && q) ? 1 : 0;
      };
      out.push_back(lane_program("bits", std::move(f)));
    }
  }
}

// 24-bit operands (9.7.1.6): the low or the high 32 bits of the 48-bit product, plus c.
void multiply_24(std::vector<ProgramSpec>& out) {
  for (const bool is_signed : {false, true}) {
    for (const bool high : {false, true}) {
      for (const bool sat : {false, true}) {
        if (sat && !(is_signed && high)) continue;
        add(out, fmt::format("mad24.{}{}.{}", high ? "hi" : "lo", sat ? ".sat" : "", type32(is_signed)), "w=www", [=](const uint64_t* in, uint64_t* o) {
          const auto operand = [is_signed](uint64_t v) {
            return is_signed ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8} : static_cast<int64_t>(v & 0xFFFFFF);
          };
          const int64_t product = operand(in[0]) * operand(in[1]), half = high ? product >> 16 : product;
          if (sat) {
            o[0] = static_cast<uint32_t>(std::clamp<int64_t>(int64_t{static_cast<int32_t>(half)} + static_cast<int32_t>(in[2]), INT32_MIN, INT32_MAX));
          } else {
            o[0] = static_cast<uint32_t>(static_cast<uint64_t>(half) + in[2]);
          }
        });
      }
    }
  }
}

}  // namespace

void add_bits(std::vector<ProgramSpec>& out) {
  add(out, "fns.b32", "w=wsw", row([](uint32_t mask, uint32_t base, int32_t offset) -> uint32_t { return find_nth(mask, base, offset); }),
      [](uint64_t* in) { in[1] &= 31; });
  masks<true>(out);
  masks<false>(out);
  dot_products(out);
  lookup(out);
  multiply_24(out);
}

}  // namespace drywell::kernels::conformance
