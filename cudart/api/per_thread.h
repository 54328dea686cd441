// Entry points of programs compiled with --default-stream per-thread: the same functions here, since work runs when it is
// submitted whatever stream it is submitted to.
#pragma once

#define PER_THREAD_ALIAS(NAME_, SUFFIX_) extern decltype(NAME_) NAME_##SUFFIX_ __attribute__((alias(#NAME_)))
