// Host-side narrow floats for kernel inputs: conversion of a user's array before its copy to the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drywell/core/npy.h"

namespace drywell::kernels {

/// Rounds to nearest even, as cvt.rn.bf16.f32 does: NaN becomes 0x7FFF, overflow becomes infinity.
uint16_t bf16_from_float(float value);
/// Exact conversion.
float float_from_bf16(uint16_t bits);
/// IEEE half precision to float, exact.
float float_from_half(uint16_t bits);

std::vector<uint16_t> bf16_from_floats(std::span<const float> values);

/// Returns the array's elements as bf16 bits. Takes float32, float64 and float16 (rounded to nearest even, float64
/// through float32), uint16 (bf16 bits already) and NumPy's bfloat16 (dtype '<V2'). Throws InputError E4007 for other
/// types.
std::vector<uint16_t> bf16_bits(const NpyArray& array);

}  // namespace drywell::kernels
