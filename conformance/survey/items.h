// Items of a survey that fail.
#pragma once

#include <algorithm>
#include <string>

#include "conformance/survey/survey.h"
#include "drywell/core/error.h"

namespace drywell::kernels::survey {

inline std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Measures one item; if it fails, tells so and goes on with a fresh machine. Throws MachineLost if there is none.
template <class Measure>
void past_failures(Subject& subject, const std::string& name, const Told& failed, const Measure& measure) {
  try {
    measure();
  } catch (const InputError& e) {
    failed(name + ": " + one_line(e.what()));
    subject.again();
  }
}

}  // namespace drywell::kernels::survey
