// The host's processor: what the programs are compiled for.
#pragma once

namespace drywell::tools {

/// Ends the process with a sentence on standard error and exit code 6 if the processor lacks an instruction set that the programs are
/// compiled with (x86-64-v2: every x86-64 processor since about 2009). It has run before `main`, and before any initialiser of the program:
/// without it an older processor gets SIGILL at an arbitrary place. A program calls it to have it linked.
void require_processor();

}  // namespace drywell::tools
