// The buffers that a program gives for the messages of a compilation or a link (CUjit_option).
#pragma once

#include <cstdint>
#include <string>

namespace drywell::cudart {

class JitLogs {
 public:
  JitLogs() = default;
  /// The program's arrays must outlive this, as CUDA asks.
  JitLogs(unsigned count, const int* options, void** values);
  /// Writes the messages, each ended by a zero, and how many bytes that were.
  void write(const std::string& info, const std::string& error) const;

 private:
  struct Log {
    char* buffer = nullptr;
    size_t most = 0;           // bytes of the buffer
    void** written = nullptr;  // the option's value
  };
  static void write(const Log& log, const std::string& text);
  Log info_, error_;
};

}  // namespace drywell::cudart
