// The driver interface's functions of the stand-in, served and not, by name: only their addresses are used.
#pragma once

extern "C" {
#define SERVED(NAME_, FUNCTION_) void FUNCTION_();
#define EARLIER(NAME_, UNTIL_, FUNCTION_) void FUNCTION_();
#define NOT_SERVED(NAME_) void NAME_();
#include "cudart/table/driver.inc"
}
