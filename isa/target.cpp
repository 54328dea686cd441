#include "drywell/isa/target.h"

#include <array>

namespace drywell::isa {
namespace {

constexpr std::array<std::string_view, 10> kTargets = {"sm_80",   "sm_90",   "sm_90a",  "sm_100",  "sm_100a",
                                                       "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_120a"};

bool is_sm100_family(Target t) {
  return t == Target::sm_100a || t == Target::sm_100f || t == Target::sm_103a || t == Target::sm_103f || t == Target::sm_110a;
}

}  // namespace

std::string_view target_name(Target t) { return kTargets[static_cast<size_t>(t)]; }

bool parse_target(std::string_view text, Target& out) {
  for (size_t i = 0; i < kTargets.size(); ++i) {
    if (kTargets[i] == text) {
      out = static_cast<Target>(i);
      return true;
    }
  }
  return false;
}

// docs/facts/tcgen05.md §1.3 and docs/facts/tma-mbarrier.md §2.3: features that ptxas 13.0 accepts per target.
bool has_feature(Target t, Feature f) {
  switch (f) {
    case Feature::base: return true;
    case Feature::sm90: return t >= Target::sm_90;
    case Feature::sm90a: return t == Target::sm_90a;
    case Feature::sm90a_100f: return t == Target::sm_90a || is_sm100_family(t) || t == Target::sm_120a;
    case Feature::sm100: return t >= Target::sm_100;
    case Feature::sm100f: return is_sm100_family(t);
    case Feature::sm100a: return t == Target::sm_100a || t == Target::sm_103a || t == Target::sm_110a;
    case Feature::sm100a_only: return t == Target::sm_100a || t == Target::sm_110a;
    case Feature::sm103: return t == Target::sm_103a || t == Target::sm_103f || t == Target::sm_110a;
  }
  return false;
}

std::string_view feature_name(Feature f) {
  switch (f) {
    case Feature::base: return "any target";
    case Feature::sm90: return "sm_90 or later";
    case Feature::sm90a: return "sm_90a";
    case Feature::sm90a_100f: return "sm_90a or the sm_100 family";
    case Feature::sm100: return "sm_100 or later";
    case Feature::sm100f: return "sm_100a, sm_100f or their family";
    case Feature::sm100a: return "sm_100a, sm_103a or sm_110a";
    case Feature::sm100a_only: return "sm_100a or sm_110a";
    case Feature::sm103: return "sm_103a, sm_103f or sm_110a";
  }
  return "?";
}

}  // namespace drywell::isa
