// Parsers for the parts of a launch plan's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"

namespace drywell::kernels {

using Extents = std::vector<uint64_t>;

std::vector<std::string_view> split(std::string_view text, char by);
/// Parses decimal or 0x…, without other characters around it.
std::optional<uint64_t> parse_unsigned(std::string_view t);
std::optional<int64_t> parse_signed(std::string_view t);
std::optional<double> parse_real(std::string_view t);
/// "64x128" or "64,128".
bool parse_extents(std::string_view text, Extents& out);
void plan_problem(Diagnostics& out, Code code, std::string message, std::string hint = {});

}  // namespace drywell::kernels
