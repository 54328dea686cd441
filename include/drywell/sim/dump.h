// A launch as files: what a C++ program launches, the commands of Drywell repeat.
#pragma once

#include <string>
#include <string_view>

#include "drywell/sim/device.h"

namespace drywell::sim {

/// Writes FOLDER/launch.toml, FOLDER/kernel.ptx and the bytes of each allocation that an argument or a tensor map points into, as they are now: call
/// it before the launch. `drywell run|step|tmem map|tmem show FOLDER/launch.toml`, `trace record` and `dap` repeat the launch (docs/running-ptx.md). The names of warps' roles are in the file. Pointers are found in
/// parameters, also inside structures, but not in memory; module variables have the values of that moment, those that hold addresses their initial ones. Returns the path of the launch file.
/// Throws InputError E4008 if a file cannot be written, E4112 if there is no such kernel, Unsupported for tensor maps that are not tiled.
std::string dump_launch(const Device& device, const LoadedModule& module, std::string_view kernel, const LaunchConfig& config, const Args& args, const std::string& folder);

/// FOLDER/007-name: where the dump of a program's launch number 7 goes (drywell exec --dump, Python's dump=).
std::string dump_folder(const std::string& folder, size_t launch, std::string_view kernel);

}  // namespace drywell::sim
