// Detection of the tile unit. This file is compiled for any processor.
#include "sim/numeric/amx/unit.h"

#if defined(__x86_64__) && defined(__linux__) && defined(DRYWELL_TILE_UNIT)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drywell::numeric {
namespace {

constexpr unsigned bit(unsigned i) { return 1u << i; }

bool processor_has_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kB = bit(16) | bit(17) | bit(30) | bit(31) | bit(28);  // AVX-512 F, DQ, BW, VL, CD
  constexpr unsigned kC = bit(1);                                           // VBMI
  constexpr unsigned kD = bit(22) | bit(24) | bit(25);                      // AMX: BF16, TILE, INT8
  if ((b & kB) != kB || (c & kC) != kC || (d & kD) != kD) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & bit(5)) != 0;  // AVX512_BF16
}

/// Linux permits a process to use the unit's state on request (Documentation/arch/x86/xstate.rst).
bool system_allows_it() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool amx_available() {
  static const bool kAvailable = processor_has_it() && system_allows_it();
  return kAvailable;
}

}  // namespace drywell::numeric
#else
namespace drywell::numeric {

bool amx_available() { return false; }

}  // namespace drywell::numeric
#endif
