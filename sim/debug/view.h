// Reads the machine's state by the user's names: registers, memories, warps.
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
  uint32_t offset = 0;  // in the frame; predicates: index
  unsigned bits = 32;   // of a lane
  isa::Mod declared = isa::Mod::b32;
};

/// The register of that name in the function of frame `frame` of the warp. Throws InputError E4322 with the nearest name.
RegisterRef find_register(const Warp& w, std::string_view name, uint32_t frame);
inline RegisterRef find_register(const Warp& w, std::string_view name) { return find_register(w, name, w.frame); }
/// All registers of the warp's current function, as declared.
std::vector<RegisterRef> registers_of(const Warp& w);
/// One value per lane. Predicates: 0 or 1.
std::array<uint64_t, kWarpSize> read_register(const Warp& w, const RegisterRef& r, uint32_t frame);
inline std::array<uint64_t, kWarpSize> read_register(const Warp& w, const RegisterRef& r) { return read_register(w, r, w.frame); }
/// True if a tcgen05.ld or wgmma in flight will write the register.
bool is_register_pending(const Warp& w, const RegisterRef& r);

/// The active lanes' place in every function on their call path, innermost first. The place in a caller is its call.
struct CallPlace {
  uint32_t pc = 0;
  std::string function;
};
std::vector<CallPlace> backtrace(const Warp& w);

/// Bytes at an offset of a CTA's shared memory, or nullptr if the range exceeds it.
const uint8_t* smem_at(const Cta& cta, uint32_t offset, uint64_t bytes);
/// Little-endian bits [bit, bit + width) of `bytes`.
uint64_t bits_of(const uint8_t* bytes, uint64_t bit, unsigned width);

/// "CTA (0,0,0) warp 3".
std::string name_of(const Warp& w);
std::string name_of(const Session& s, const WarpRef& w);
/// Grid coordinates of the CTA with that rank in a cluster.
Dim3 cta_index(const Launch& l, uint64_t cluster, uint32_t rank);
/// Cluster and rank of a CTA; nullopt if the grid has no such CTA.
std::optional<WarpRef> ref_of_cta(const Launch& l, Dim3 index);

}  // namespace drywell::sim
