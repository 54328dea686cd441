// Element-wise reductions into memory, for the destinations of cp.reduce.async.bulk(.tensor) and red.async
// (PTX ISA 9.7.9.25.4; arithmetic as measured on an H200, docs/facts/tma-mbarrier.md §2.3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "drywell/isa/mods.h"

namespace drywell::sim {

/// Combines `bytes` of elements at `to` with those at `from`; each element is one relaxed atomic operation.
/// `to` is aligned to the element.
using ReduceFn = void (*)(uint8_t* to, const uint8_t* from, size_t bytes);

/// The function of an operation (add, min, max, inc, dec, and_, or_, xor_) on a type (u32, s32, u64, s64,
/// b32, b64, f16, bf16, f32, f64), or nullptr if PTX has no such reduction.
ReduceFn reduce_function(isa::Mod op, isa::Mod type);

}  // namespace drywell::sim
