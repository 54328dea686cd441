// Reading a machine's state by the names a user knows: registers, memories, warps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/session.h"
#include "sim/debug/value_type.h"

namespace drywell::sim {

/// A register of a function, or a special register.
struct RegisterRef {
  std::string name;
  bool predicate = false;
  std::optional<isa::SpecialReg> special;
  uint32_t offset = 0;                // in the frame; predicates: index
  unsigned bits = 32;                 // of a lane
  isa::Mod declared = isa::Mod::b32;
};

/// The register of that name in the function of frame `frame` of the warp. Throws InputError E4322 with the nearest name.
RegisterRef find_register(const Warp& w, std::string_view name, uint32_t frame);
inline RegisterRef find_register(const Warp& w, std::string_view name) { return find_register(w, name, w.frame); }
/// All registers of the function the warp is in, as declared.
std::vector<RegisterRef> registers_of(const Warp& w);
/// One value per lane. Predicates: 0 or 1.
std::array<uint64_t, kWarpSize> read_register(const Warp& w, const RegisterRef& r, uint32_t frame);
inline std::array<uint64_t, kWarpSize> read_register(const Warp& w, const RegisterRef& r) { return read_register(w, r, w.frame); }
/// A tcgen05.ld or wgmma in flight will write it.
bool is_register_pending(const Warp& w, const RegisterRef& r);

/// The running lanes' place in every function on their call path, the innermost first: a caller's is that of its call.
struct CallPlace {
  uint32_t pc = 0;
  std::string function;
};
std::vector<CallPlace> backtrace(const Warp& w);

/// Bytes at a place of shared memory (offset, of one CTA), or nullptr if it ends before.
const uint8_t* smem_at(const Cta& cta, uint32_t offset, uint64_t bytes);
/// Little-endian bits [bit, bit + width) of `bytes`.
uint64_t bits_of(const uint8_t* bytes, uint64_t bit, unsigned width);

/// "CTA (0,0,0) warp 3" and, short, "0.3" (CTA's number in the grid and warp).
std::string name_of(const Warp& w);
std::string name_of(const Session& s, const WarpRef& w);
/// CTA coordinates of a rank of a cluster.
Dim3 cta_index(const Launch& l, uint64_t cluster, uint32_t rank);
/// Where a CTA is; nothing if there is no such CTA in the grid.
std::optional<WarpRef> ref_of_cta(const Launch& l, Dim3 index);

}  // namespace drywell::sim
