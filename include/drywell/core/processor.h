// The host's processor: what Drywell is compiled for. The functions may be called at the same time, and before any initialiser has run.
#pragma once

namespace drywell {

/// Returns the name of an instruction set that this processor lacks and Drywell is compiled with (x86-64-v2: every x86-64 processor since
/// about 2009), or null.
const char* missing_instructions();

/// What a sentence says behind "this processor has no SSE4.1".
inline constexpr char kNeededProcessor[] = "; Drywell's programs are compiled for x86-64-v2 (processors since about 2009)";

}  // namespace drywell
