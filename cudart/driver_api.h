// The driver interface's functions that the stand-in has, by name: only their addresses matter here.
#pragma once

extern "C" {
#define SERVED(NAME_, FUNCTION_) void FUNCTION_();
#include "cudart/table/driver_served.inc"
#undef SERVED
}
