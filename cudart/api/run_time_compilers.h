// NVRTC and nvJitLink, which make machine code while a program runs: machine code cannot be simulated.
#pragma once

#include <cstdint>
#include <string>

namespace drywell::cudart {

/// If the file at `path`, loaded at `base`, is one of these libraries: its "cubins" are PTX in an envelope
/// from now on (cubin.h), and the result is true. NVRTC still compiles, and its PTX is what nvrtcGetCUBIN
/// gives; links are Drywell's, of PTX alone.
bool replace_run_time_compiler(const std::string& path, uintptr_t base);

}  // namespace drywell::cudart
