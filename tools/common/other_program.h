// Subcommands that are programs of their own (tools/common/commands.inc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drywell::tools {

/// Starts drywell-PROGRAM in place of this process, with the same arguments; does not return. The program lies beside this one, or in
/// ../libexec/drywell of it. Throws InputError E4311 if it is in neither or cannot be run.
[[noreturn]] void start_other_program(std::string_view program, std::string_view command, char** argv);

/// True if drywell-PROGRAM is there.
bool has_other_program(std::string_view program);
/// Runs drywell-PROGRAM and returns what it prints. Throws InputError E4311 if it is not there or ends with an error.
std::string output_of_other_program(std::string_view program, const std::vector<std::string>& words);

}  // namespace drywell::tools
