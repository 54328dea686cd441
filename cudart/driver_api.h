// The driver interface's functions of the stand-in, by name: only their addresses are used.
#pragma once

extern "C" {
#define SERVED(NAME_, FUNCTION_) void FUNCTION_();
#include "cudart/table/driver_served.inc"
#undef SERVED
}
