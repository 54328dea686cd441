// A process that is watched: its time, its memory and its end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace drywell::attack {

/// A process hangs if it computes for so long, or does not end in kPatience times as long in which it was not ready to
/// run: a busy host gives it little of its time, or none.
struct Bounds {
  double seconds = 20;
  uint64_t bytes = uint64_t{3} << 30;
};

struct Ending {
  enum class How : uint8_t {
    exited,
    crashed,
    hung,
    over_memory
  } how = How::exited;
  int code = 0;  // exit code, or the signal of a crash
  double seconds = 0;
  uint64_t peak = 0;     // bytes
  std::string out, err;  // the first megabyte of each
};

struct Command {
  std::vector<std::string> words;
  std::string input;                     // for standard input
  std::vector<std::string> environment;  // "NAME=value", added
  std::function<void()> before;          // runs in the child before the program starts
  double kill_after = 0;                 // seconds; 0: never
};

/// Runs a program to its end, or ends it beyond `bounds`. A crash is a signal that the caller did not send,
/// or exit code 70.
Ending run(const Command& c, const Bounds& bounds = {});

inline constexpr double kPatience = 15;

/// Seconds that a process has computed, and that its threads were ready and had no processor; 0 if it is gone.
struct Share {
  double computed = 0, waited = 0;
  Share operator-(const Share& before) const { return {computed - before.computed, waited - before.waited}; }
};
Share share_of(pid_t process);
/// Whether a process that has run for `seconds` hangs (Bounds).
bool hangs(double seconds, const Share& s, double most);
/// Bytes of memory that a process holds; 0 if it is gone.
uint64_t resident_of(pid_t process);

}  // namespace drywell::attack
