// Programs that apply one instruction to many rows of operands, one thread per row.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "conformance/programs/program.h"

namespace drywell::kernels::conformance {

/// Computes the outputs of a row from its inputs; values are right-aligned in 64 bits.
using RowFn = std::function<void(const uint64_t* in, uint64_t* out)>;

/// Computes the outputs of a warp's 32 rows: in[operand][lane], out[operand][lane].
using WarpFn = std::function<void(std::span<const std::array<uint64_t, 32>> in, std::span<std::array<uint64_t, 32>> out)>;

/// One form: opcode text, operands, expectation.
///
/// `operands` is "outputs=inputs", one letter per operand: p predicate, b 8, h 16, w 32, d 64 bits of integers; f f32, g f64,
/// e f16, k bf16, t tf32, E f16x2, K bf16x2, F f32x2 values; n f32, m f64 and N f16x2 values of few significant bits, which tie in
/// narrower formats; c two 8-bit codes, of which all appear; s a shift amount; {…} a vector; | joins a pair; #123 or #0x1F an
/// immediate; _ a sink; w.b0 a part of a register and -w a negated one (video instructions); !p a negated predicate. M before a letter or vector is a memory operand: each row has a cell of that content in the opcode's
/// state space; it is an input before the instruction and an output (after the other outputs) after it. Consecutive
/// instructions (a carry chain) are separated by ; in both texts; inputs and outputs are then those of the first, of the
/// second, ….
struct LaneForm {
  std::string op;
  std::string operands;
  RowFn expect;
  std::function<void(uint64_t*)> prepare = {};  // changes inputs to those with a result that PTX defines
  Compare compare = Compare::bits;
  uint64_t ulps = 0;
  std::string name = {};    // of the program, if the opcode alone is not unique
  WarpFn expect_warp = {};  // instead of `expect`, if lanes depend on each other
};

/// Returns the program of a form.
ProgramSpec lane_program(std::string family, LaneForm form);

namespace detail {
template <class T>
T from_bits(uint64_t v) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(v));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(v);
  } else {
    return static_cast<T>(v);
  }
}
template <class T>
uint64_t to_bits(T v) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(v);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(v);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v ? 1 : 0;
  } else {
    return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(v));
  }
}
template <class R, class... A, size_t... I>
RowFn row_of(R (*f)(A...), std::index_sequence<I...>) {
  return [f](const uint64_t* in, uint64_t* out) { out[0] = to_bits<R>(f(from_bits<A>(in[I])...)); };
}
template <class R, class... A>
RowFn row_of(R (*f)(A...)) {
  return row_of(f, std::index_sequence_for<A...>());
}
}  // namespace detail

/// Makes a row function from a captureless lambda over integers, floats and bools:
/// row([](uint32_t a, uint32_t b) { … }).
template <class F>
RowFn row(F f) {
  return detail::row_of(+f);
}

}  // namespace drywell::kernels::conformance
