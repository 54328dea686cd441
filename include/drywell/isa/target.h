// Targets and the PTX features they have. Legality only: sizes and speeds belong to drywell/sim/arch_config.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::isa {

struct PtxVersion {
  uint8_t major = 9, minor = 0;
  constexpr auto operator<=>(const PtxVersion&) const = default;
};

/// A feature that a row needs from its target (docs/facts/tcgen05.md §1.3, docs/facts/tma-mbarrier.md §2.3: acceptance by ptxas
/// 13.0).
enum class Feature : uint8_t {
  base,           // sm_80 and later
  sm90,           // clusters, mbarrier transactions, bulk copies
  sm90a,          // wgmma: sm_90a only
  sm90a_100f,     // setmaxnreg, tensormap.replace: sm_90a and the sm_100 family
  sm100,          // any sm_100 and later
  sm100f,         // sm_100 family with f or a: tcgen05, cta_group, gather4
  sm100a,         // arch-specific: shift, ashift, scale_vec
  sm100a_only,    // kind::i8
  sm103,          // ld.red, K=96
};

enum class Target : uint8_t { sm_80, sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_103a, sm_103f, sm_110a, sm_120a };

std::string_view target_name(Target t);
/// Parses "sm_100a"; returns false, and leaves `out` unchanged, if the text is not a target.
bool parse_target(std::string_view text, Target& out);
bool has_feature(Target t, Feature f);
std::string_view feature_name(Feature f);

}  // namespace drywell::isa
