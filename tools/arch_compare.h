// Machines side by side: what they load, the features of their targets, and their figures.
#pragma once

#include <span>
#include <string>

#include "drywell/sim/arch_config.h"

namespace drywell::tools {

/// A table with a column per machine. Without `all`, only rows in which machines differ.
std::string compare(std::span<const sim::ArchConfig> machines, bool all);

}  // namespace drywell::tools
