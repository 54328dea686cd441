#include "cudart/jit_logs.h"

namespace drywell::cudart {
namespace {

// CUjit_option: buffers for messages, and their sizes in bytes, which become what was written.
constexpr int kInfoLog = 3, kInfoBytes = 4, kErrorLog = 5, kErrorBytes = 6;

}  // namespace

JitLogs::JitLogs(unsigned count, const int* options, void** values) {
  if (options == nullptr || values == nullptr) return;
  const auto take_bytes = [](Log& log, void** value) {
    log.written = value;
    log.most = reinterpret_cast<uintptr_t>(*value) & 0xFFFFFFFF;
  };
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case kInfoLog: info_.buffer = static_cast<char*>(values[i]); break;
      case kErrorLog: error_.buffer = static_cast<char*>(values[i]); break;
      case kInfoBytes: take_bytes(info_, &values[i]); break;
      case kErrorBytes: take_bytes(error_, &values[i]); break;
      default: break;
    }
  }
}

void JitLogs::write(const Log& log, const std::string& text) {
  if (log.buffer == nullptr || log.most == 0) return;
  const size_t written = text.copy(log.buffer, log.most - 1);
  log.buffer[written] = 0;
  *log.written = reinterpret_cast<void*>(written == 0 ? 0 : written + 1);
}

void JitLogs::write(const std::string& info, const std::string& error) const {
  write(info_, info);
  write(error_, error);
}

}  // namespace drywell::cudart
