// Runs work on a second thread without the GIL, while the calling thread answers Ctrl-C and reports progress.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>

#include "drywell/sim/run.h"

namespace drywell::python {

/// Runs `work`, which must end soon after `stop` is set. Call with the GIL. A Python error (Ctrl-C, or raised
/// by the progress callback) stops the work and is thrown when it has ended; an exception of the work is
/// thrown as it is. `progress`: called with (CTAs done, CTAs in all, cycles), or None.
void run_interruptibly(const std::function<void()>& work, std::atomic<bool>& stop,
                       const sim::RunProgress& done, const nanobind::object& progress);

}  // namespace drywell::python
