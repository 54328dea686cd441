#include "launch/cuda_driver/power_meter.h"

#include <dlfcn.h>

namespace drywell::kernels {
namespace {

// Entry points and numbers of NVML 12.
using Nvml = int;                                                  // nvmlReturn_t; 0 is success
using Gpu = void;                                                  // nvmlDevice_st
constexpr unsigned kClockSm = 1;                                   // NVML_CLOCK_SM
constexpr unsigned long long kPowerCap = 0x4, kPowerBrake = 0x80;  // nvmlClocksEventReasonSwPowerCap, …HwPowerBrakeSlowdown

}  // namespace

struct PowerMeter::Api {
  void* library = nullptr;
  Gpu* gpu = nullptr;
  Nvml (*shutdown)() = nullptr;
  Nvml (*power)(Gpu*, unsigned*) = nullptr;
  Nvml (*power_limit)(Gpu*, unsigned*) = nullptr;
  Nvml (*clock)(Gpu*, unsigned, unsigned*) = nullptr;
  Nvml (*most_clock)(Gpu*, unsigned, unsigned*) = nullptr;
  Nvml (*reasons)(Gpu*, unsigned long long*) = nullptr;

  template <class F>
  bool find(const char* name, F*& into) {
    into = reinterpret_cast<F*>(dlsym(library, name));
    return into != nullptr;
  }
  bool start() {
    Nvml (*init)() = nullptr;
    Nvml (*handle)(unsigned, Gpu**) = nullptr;
    const bool all = find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown) && find("nvmlDeviceGetHandleByIndex_v2", handle) &&
                     find("nvmlDeviceGetPowerUsage", power) && find("nvmlDeviceGetEnforcedPowerLimit", power_limit) && find("nvmlDeviceGetClockInfo", clock) &&
                     find("nvmlDeviceGetMaxClockInfo", most_clock) && find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    unsigned milliwatts = 0;
    return all && init() == 0 && handle(0, &gpu) == 0 && power(gpu, &milliwatts) == 0;
  }
};

PowerMeter::PowerMeter(std::unique_ptr<Api> api) : api_(std::move(api)) {}

PowerMeter::~PowerMeter() {
  api_->shutdown();
  dlclose(api_->library);
}

std::unique_ptr<PowerMeter> PowerMeter::open() {
  auto api = std::make_unique<Api>();
  api->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (api->library == nullptr) return nullptr;
  if (!api->start()) {
    dlclose(api->library);
    return nullptr;
  }
  return std::unique_ptr<PowerMeter>(new PowerMeter(std::move(api)));
}

double PowerMeter::watts() const {
  unsigned milliwatts = 0;
  return api_->power(api_->gpu, &milliwatts) == 0 ? milliwatts * 1e-3 : 0;
}
double PowerMeter::limit() const {
  unsigned milliwatts = 0;
  return api_->power_limit(api_->gpu, &milliwatts) == 0 ? milliwatts * 1e-3 : 0;
}
double PowerMeter::megahertz() const {
  unsigned mhz = 0;
  return api_->clock(api_->gpu, kClockSm, &mhz) == 0 ? mhz : 0;
}
double PowerMeter::most_megahertz() const {
  unsigned mhz = 0;
  return api_->most_clock(api_->gpu, kClockSm, &mhz) == 0 ? mhz : 0;
}
bool PowerMeter::capped() const {
  unsigned long long reasons = 0;
  return api_->reasons(api_->gpu, &reasons) == 0 && (reasons & (kPowerCap | kPowerBrake)) != 0;
}

}  // namespace drywell::kernels
