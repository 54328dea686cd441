// Host references: narrow float formats. Independent of sim/numeric on purpose: nothing here may include from sim/ or
// isa/, so that a kernel's reference cannot share the simulator's mistakes.
#pragma once

#include <array>
#include <cstdint>

namespace drywell::kernels::reference {

float bf16_to_float(uint16_t bits);
/// Rounds to nearest even; NaN becomes 0x7FFF.
uint16_t float_to_bf16(float value);
/// Rounds to nearest even, gradual underflow, overflow to infinity; NaN becomes 0x7FFF.
uint16_t float_to_f16(float value);

/// cvt.rn.satfinite.e4m3x2.f32 of one element (PTX ISA, cvt): NaN becomes 0x7F, an overflow becomes +-448.
uint8_t float_to_e4m3(float value);
/// Reads the low seven bits as unsigned e4m3; 0x7F is NaN.
float ue4m3_to_float(uint8_t code);

/// cvt.rn.satfinite.e2m1x2.f32 of one element: NaN becomes +6 (code 7), -0 and negative underflow become code 8.
uint8_t float_to_e2m1(float value);
/// cvt.rs.satfinite.e2m1x4.f32 of one element with the 16-bit integer `random` added below the grid.
uint8_t float_to_e2m1_stochastic(float value, uint16_t random);
float e2m1_to_float(uint8_t code);

/// Returns the random integers of the four elements of one cvt.rs.satfinite.e2m1x4.f32, from its 32-bit word, lowest
/// nibble first. Pairs share bits, one of them reversed (docs/facts/numerics.md §2.2, probed on sm_100).
std::array<uint16_t, 4> e2m1x4_random_bits(uint32_t word);

/// Returns one output block of Philox4x32 (Salmon et al., SC 2011) for a counter and a key.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key,
                                   uint32_t rounds = 10);

}  // namespace drywell::kernels::reference
