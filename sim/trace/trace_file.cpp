// Trace text to and from files, plain or zstd.
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/host_memory.h"
#include "drywell/sim/trace.h"

namespace drywell::sim {
namespace {

[[noreturn]] void fail(Code code, const std::string& path, std::string message) {
  Diagnostics d;
  d.error(code, {path, 0, 0}, std::move(message));
  throw InputError(std::move(d));
}

constexpr int kLevel = 3;  // zstd's default: fast enough to keep up with the simulator

/// A few kilobytes of zstd can stand for more text than any host holds.
uint64_t most_text() { return std::min(uint64_t{4} << 30, host_memory().available / 8); }

std::string decompress(const std::string& path, const std::vector<std::byte>& packed) {
  const uint64_t most = most_text();
  struct Free {
    void operator()(ZSTD_DStream* s) const { ZSTD_freeDStream(s); }
  };
  const std::unique_ptr<ZSTD_DStream, Free> stream(ZSTD_createDStream());
  std::string text;
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t left = 0;
  bool more = true;
  while (more) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0)
      fail(Code::E4201, path, std::string("not a zstd file: ") + ZSTD_getErrorName(left));
    if (text.size() + out.pos > most) fail(Code::E4204, path, fmt::format("it unpacks to more than {} bytes", most));
    text.append(chunk.data(), out.pos);
    if (!text.starts_with(std::string_view("# trace").substr(0, text.size()))) parse_trace_header(text, path);  // refuses it before all is unpacked
    more = in.pos < in.size || out.pos == out.size;
  }
  if (left != 0) fail(Code::E4201, path, "the zstd stream is cut short");
  return text;
}

}  // namespace

struct TraceFile::Impl {
  explicit Impl(const std::string& path) : file(path) {
    if (!path.ends_with(".zst")) return;
    stream = ZSTD_createCCtx();
    packed.resize(ZSTD_CStreamOutSize());
    ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, kLevel);
  }
  ~Impl() { ZSTD_freeCCtx(stream); }

  void compress(std::string_view text, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      left = ZSTD_compressStream2(stream, &out, &in, end);
      DRYWELL_CHECK(ZSTD_isError(left) == 0, ZSTD_getErrorName(left));
      file.write(std::string_view(packed.data(), out.pos));
    } while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
  }

  PendingFile file;
  ZSTD_CCtx* stream = nullptr;
  std::vector<char> packed;
};

TraceFile::TraceFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TraceFile::~TraceFile() = default;

void TraceFile::write(std::string_view text) {
  if (impl_->stream != nullptr) {
    impl_->compress(text, ZSTD_e_continue);
  } else {
    impl_->file.write(text);
  }
}

void TraceFile::commit() {
  if (impl_->stream != nullptr) impl_->compress({}, ZSTD_e_end);
  impl_->file.commit();
}

std::string read_trace(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string text = path.ends_with(".zst")
                         ? decompress(path, bytes)
                         : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  parse_trace_header(text, path);
  if (!text.ends_with('\n')) fail(Code::E4201, path, "the file is cut short: its last line has no end");
  return text;
}

}  // namespace drywell::sim
