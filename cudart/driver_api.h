// The driver interface's functions of the stand-in, served and not, by name: only their addresses are used.
#pragma once

extern "C" {
#define SERVED(NAME_, FUNCTION_) void FUNCTION_();
#include "cudart/table/driver_served.inc"
#undef SERVED
#define NOT_SERVED(NAME_) void NAME_();
#include "cudart/table/driver_not_served.inc"
#undef NOT_SERVED
}
