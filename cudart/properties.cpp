#include "cudart/properties.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "cudart/call.h"
#include "cudart/device_prop.h"
#include "drywell/core/whole_number.h"
#include "drywell/sim/arch_config.h"

namespace drywell::cudart {
namespace {

constexpr int kLastAttribute = 147;  // cudaDevAttrMax - 1 in CUDA 13.0

/// Bits of the bus to device memory: H200, B200 (7680 by device query, sim/arch/sm_100a.toml), B300, GeForce RTX 5090, GB10.
int bus_bits(int cc) {
  switch (cc) {
    case 90: return 6144;
    case 100: return 7680;
    case 103: return 8192;
    case 120: return 512;
    default: return 256;
  }
}
/// In kHz: programs multiply it by 2 and by the bytes of the bus, and get the peak of the architecture file.
double memory_clock(const sim::ArchConfig& a, int bus) { return a.hbm.peak * 1e9 / (2 * bus / 8); }

/// Fills the fields of both versions.
template <class Prop>
void fill(const sim::Device& d, Prop& p) {
  const auto attribute = [&](int n) { return device_attribute(d, n); };
  const auto size = [&](int n) { return static_cast<size_t>(attribute(n)); };
  p = {};
  const std::string name = device_name(d);
  std::memcpy(p.name, name.data(), std::min(name.size(), sizeof p.name - 1));
  std::memcpy(p.uuid, "drywell simulated", sizeof p.uuid);
  p.totalGlobalMem = d.memory_capacity();
  p.sharedMemPerBlock = size(8);
  p.regsPerBlock = attribute(12);
  p.warpSize = attribute(10);
  p.memPitch = size(11);
  p.maxThreadsPerBlock = attribute(1);
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = attribute(2 + i);
    p.maxGridSize[i] = attribute(5 + i);
  }
  p.totalConstMem = size(9);
  p.major = attribute(75);
  p.minor = attribute(76);
  p.textureAlignment = size(14);
  p.texturePitchAlignment = size(51);
  p.multiProcessorCount = attribute(16);
  p.canMapHostMemory = attribute(19);
  p.surfaceAlignment = size(30);
  p.concurrentKernels = attribute(31);
  p.asyncEngineCount = attribute(40);
  p.unifiedAddressing = attribute(41);
  p.memoryBusWidth = attribute(37);
  p.ECCEnabled = attribute(32);
  p.concurrentManagedAccess = attribute(89);
  p.computePreemptionSupported = attribute(90);
  p.l2CacheSize = attribute(38);
  p.maxThreadsPerMultiProcessor = attribute(39);
  p.streamPrioritiesSupported = attribute(78);
  p.globalL1CacheSupported = attribute(79);
  p.localL1CacheSupported = attribute(80);
  p.sharedMemPerMultiprocessor = size(81);
  p.regsPerMultiprocessor = attribute(82);
  p.managedMemory = attribute(83);
  p.canUseHostPointerForRegisteredMem = attribute(91);
  p.cooperativeLaunch = attribute(95);
  p.sharedMemPerBlockOptin = size(97);
  p.maxBlocksPerMultiProcessor = attribute(106);
  p.reservedSharedMemPerBlock = size(111);
  p.hostRegisterSupported = attribute(99);
  p.memoryPoolsSupported = attribute(115);
  p.clusterLaunch = attribute(120);
}

}  // namespace

int compute_capability(const sim::Device& d) {
  std::string_view digits = isa::target_name(d.arch().target).substr(3);  // "sm_100a"
  return leading_number<int>(digits).value_or(0);
}

std::string device_name(const sim::Device& d) { return fmt::format("{} (simulated by Drywell)", d.arch().description); }

int device_attribute(const sim::Device& d, int attribute) {
  require_value(attribute >= 1 && attribute <= kLastAttribute);
  const sim::ArchConfig& a = d.arch();
  const int cc = compute_capability(d);
  const uint32_t sms = d.sm_count();
  const int bus = bus_bits(cc);
  switch (attribute) {
#define ATTRIBUTE(NUMBER_, VALUE_) \
  case NUMBER_:                    \
    return static_cast<int>(VALUE_);
#include "cudart/table/device_attributes.inc"
#undef ATTRIBUTE
    default: return 0;
  }
}

void fill_properties13(const sim::Device& d, void* out) { fill(d, *static_cast<DeviceProp13*>(out)); }

void fill_properties12(const sim::Device& d, void* out) {
  auto& p = *static_cast<DeviceProp12*>(out);
  fill(d, p);
  p.clockRate = device_attribute(d, 13);
  p.memoryClockRate = device_attribute(d, 36);
  p.deviceOverlap = 1;
}

}  // namespace drywell::cudart
