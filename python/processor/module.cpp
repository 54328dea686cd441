// drywell._processor: its import fails with a sentence where drywell._core would end the interpreter (SIGILL), perhaps before any code of it
// can say why. Compiled for the oldest x86-64, and with nothing but C.
#include <Python.h>

#include "drywell/core/processor.h"

extern "C" PyMODINIT_FUNC PyInit__processor() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_processor", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  if (const char* const missing = drywell::missing_instructions(); missing != nullptr)
    return PyErr_Format(PyExc_ImportError, "drywell: this processor has no %s%s", missing, drywell::kNeededProcessor);
  return PyModule_Create(&definition);
}
