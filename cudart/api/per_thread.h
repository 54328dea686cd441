// Entry points of programs compiled with --default-stream per-thread. They are the same functions, because work runs when
// it is submitted, in every stream.
#pragma once

#define PER_THREAD_ALIAS(NAME_, SUFFIX_) extern decltype(NAME_) NAME_##SUFFIX_ __attribute__((alias(#NAME_)))
