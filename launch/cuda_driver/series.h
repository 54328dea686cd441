// A series of measurements on a GPU that goes on past kernels that fail.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace drywell::kernels {

/// A part of a series: all that one process measured.
struct Stretch {
  std::string text;    // the results, in a form that the caller reads again
  size_t reached = 0;  // the first item that is left; past the series' last one if none is
  bool lost = false;   // the item before `reached` failed and took the GPU from the process (Accelerator::lost)
};

/// Measures a series in child processes: a GPU refuses every call of a process whose kernel has failed, a new context included (measured on
/// an H200). `measure(first)` opens the GPU, begins at item `first` and ends with the series or with the item that loses the GPU.
/// Returns the texts in order. The calling process must not have used the GPU before: CUDA does not survive a fork.
/// Throws Unavailable or InputError as `measure` does, with its text; InputError E4505 if a child ends by a signal.
std::vector<std::string> run_series(const std::function<Stretch(size_t first)>& measure);

}  // namespace drywell::kernels
