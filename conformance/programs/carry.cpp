// Extended precision (PTX ISA 9.7.2): each program is a chain of two or three instructions whose words together are one sum,
// difference or product of wider integers.
#include <fmt/format.h>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

__extension__ typedef unsigned __int128 UWide;

void add(std::vector<ProgramSpec>& out, std::string name, std::string op, std::string operands, RowFn expect) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = std::move(operands);
  f.expect = std::move(expect);
  f.name = std::move(name);
  out.push_back(lane_program("carry", std::move(f)));
}

// Inputs: the low words of a and b, then their high words. The third instruction returns the carry (borrow) of the whole.
template <class T>
void sums(std::vector<ProgramSpec>& out, const char* type, char l) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const std::string operands = fmt::format("{0}={0}{0};{0}={0}{0};{0}=#0#0", l);
  add(out, fmt::format("add.cc.{0}/addc.cc.{0}/addc.{0}", type), fmt::format("add.cc.{0};addc.cc.{0};addc.{0}", type), operands,
      [](const uint64_t* in, uint64_t* o) {
        const UWide low = UWide{in[0]} + in[1];
        const UWide high = UWide{in[2]} + in[3] + static_cast<uint64_t>(low >> kBits);
        o[0] = static_cast<T>(low);
        o[1] = static_cast<T>(high);
        o[2] = static_cast<uint64_t>(high >> kBits);
      });
  add(out, fmt::format("sub.cc.{0}/subc.cc.{0}/subc.{0}", type), fmt::format("sub.cc.{0};subc.cc.{0};subc.{0}", type), operands,
      [](const uint64_t* in, uint64_t* o) {
        const bool borrow = in[0] < in[1];
        o[0] = static_cast<T>(in[0] - in[1]);
        o[1] = static_cast<T>(in[2] - in[3] - (borrow ? 1 : 0));
        const bool second = UWide{in[2]} < UWide{in[3]} + (borrow ? 1 : 0);
        o[2] = static_cast<T>(second ? ~uint64_t{0} : 0);
      });
}

// a * b + (low, high) of two words, as in a multi-word multiplication.
template <class T>
void products(std::vector<ProgramSpec>& out, const char* type, char l) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const std::string step = fmt::format("{0}={0}{0}{0}", l);
  add(out, fmt::format("mad.lo.cc.{0}/madc.hi.cc.{0}/addc.{0}", type), fmt::format("mad.lo.cc.{0};madc.hi.cc.{0};addc.{0}", type),
      fmt::format("{0};{0};{1}=#0#0", step, l), [](const uint64_t* in, uint64_t* o) {
        const UWide low = UWide{static_cast<T>(in[0] * in[1])} + in[2];
        const UWide product = UWide{in[3]} * in[4];
        const UWide high = (product >> kBits) + in[5] + static_cast<uint64_t>(low >> kBits);
        o[0] = static_cast<T>(low);
        o[1] = static_cast<T>(high);
        o[2] = static_cast<uint64_t>(high >> kBits);
      });
  add(out, fmt::format("mad.hi.cc.{0}/madc.lo.{0}", type), fmt::format("mad.hi.cc.{0};madc.lo.{0}", type), fmt::format("{0};{0}", step),
      [](const uint64_t* in, uint64_t* o) {
        const UWide first = (UWide{in[0]} * in[1] >> kBits) + in[2];
        o[0] = static_cast<T>(first);
        o[1] = static_cast<T>(in[3] * in[4] + in[5] + static_cast<uint64_t>(first >> kBits));
      });
}

}  // namespace

void add_carry(std::vector<ProgramSpec>& out) {
  sums<uint32_t>(out, "u32", 'w');
  sums<uint32_t>(out, "s32", 'w');
  sums<uint64_t>(out, "u64", 'd');
  sums<uint64_t>(out, "s64", 'd');
  products<uint32_t>(out, "u32", 'w');
  products<uint64_t>(out, "u64", 'd');
}

}  // namespace drywell::kernels::conformance
