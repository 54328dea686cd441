// vprintf and __assertfail, the functions that CUDA's printf and assert call (CUDA C++ Programming Guide, formatted output,
// assertion).
#include <fmt/format.h>

#include <clocale>
#include <cstdio>

#include "sim/exec/call.h"
#include "sim/exec/memory.h"

namespace drywell::sim {
namespace {

constexpr size_t kMaxString = 1 << 16;

/// Numbers are formatted as in the "C" locale while an object lives, whatever locale the program of this process has set: those of a
/// device have a point. For the calling thread only.
class PlainNumbers {
 public:
  PlainNumbers() : plain_(::newlocale(LC_ALL_MASK, "C", nullptr)), before_(::uselocale(plain_)) {}
  ~PlainNumbers() {
    ::uselocale(before_);
    ::freelocale(plain_);
  }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  locale_t plain_, before_;
};

/// Reads the guest's memory through the generic addresses of one lane.
class GuestReader {
 public:
  GuestReader(Warp& w, uint32_t lane) : w_(w), lane_(lane) {}

  /// Copies `bytes`; if they cannot be read, returns false and keeps the address.
  bool read(uint64_t address, void* to, uint64_t bytes) {
    const uint8_t* p = resolve(w_, Space::generic, address, bytes, lane_, hint_);
    if (p == nullptr) {
      bad_ = address;
      return false;
    }
    std::memcpy(to, p, bytes);
    return true;
  }
  bool read_string(uint64_t address, std::string& out) {
    char c = 1;  // not 0, so that an unreadable first byte is not taken for the end
    for (; out.size() < kMaxString && read(address, &c, 1) && c != 0; ++address) out += c;
    return c == 0 || out.size() == kMaxString;
  }
  uint64_t bad() const { return bad_; }

 private:
  Warp& w_;
  uint32_t lane_;
  const Gmem::Allocation* hint_ = nullptr;
  uint64_t bad_ = 0;
};

/// The argument buffer: values at their natural alignment.
class Arguments {
 public:
  Arguments(GuestReader& reader, uint64_t address) : reader_(reader), at_(address) {}
  uint64_t next(uint32_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    uint64_t v = 0;
    ok_ = ok_ && reader_.read(at_, &v, bytes);
    at_ += bytes;
    ++count_;
    return v;
  }
  int count() const { return count_; }
  bool ok() const { return ok_; }

 private:
  GuestReader& reader_;
  uint64_t at_;
  int count_ = 0;
  bool ok_ = true;
};

template <class T>
std::string print(const std::string& spec, T value) {
  char small[128];
  const int n = std::snprintf(small, sizeof small, spec.c_str(), value);
  if (n < static_cast<int>(sizeof small)) return {small, static_cast<size_t>(std::max(n, 0))};
  std::string big(static_cast<size_t>(n) + 1, '\0');
  std::snprintf(big.data(), big.size(), spec.c_str(), value);
  big.pop_back();
  return big;
}

// Larger widths are treated as a mistake in the guest, so that the output has no gigabytes of blanks.
constexpr int kMaxWidth = 4096;

/// Formats one conversion; `i` is the position after its '%'. Returns the position after the conversion.
size_t convert(const std::string& format, size_t i, Arguments& args, GuestReader& reader, std::string& out) {
  const size_t start = i;
  std::string spec = "%";
  const auto number = [&] {
    if (i < format.size() && format[i] == '*') {
      const auto v = static_cast<int32_t>(args.next(4));
      spec += std::to_string(std::clamp(v, -kMaxWidth, kMaxWidth));
      ++i;
      return;
    }
    int v = 0;
    const size_t first = i;
    while (i < format.size() && format[i] >= '0' && format[i] <= '9')
      v = std::min(kMaxWidth, v * 10 + (format[i++] - '0'));
    if (i != first) spec += std::to_string(v);
  };
  while (i < format.size() && std::string_view("-+ #0").find(format[i]) != std::string_view::npos)
    spec += format[i++];
  number();
  if (i < format.size() && format[i] == '.') {
    spec += format[i++];
    number();
  }
  bool wide = false;
  uint32_t narrow = 4;
  for (; i < format.size() && std::string_view("hlLzjt").find(format[i]) != std::string_view::npos; ++i) {
    if (format[i] == 'h') {
      narrow /= 2;
    } else {
      wide = true;
    }
  }
  if (i == format.size()) {
    out += '%' + format.substr(start);
    return i;
  }
  const char c = format[i++];
  switch (c) {
    case '%': out += '%'; break;
    case 'd':
    case 'i': {
      auto v = static_cast<int64_t>(args.next(wide ? 8 : 4));
      if (!wide)
        v = narrow == 1   ? static_cast<int8_t>(v)
            : narrow == 2 ? static_cast<int16_t>(v)
                          : static_cast<int32_t>(v);
      out += print(spec + "lld", static_cast<long long>(v));
      break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      uint64_t v = args.next(wide ? 8 : 4);
      if (!wide) v &= narrow == 1 ? 0xFFu : narrow == 2 ? 0xFFFFu : 0xFFFFFFFFu;
      out += print(spec + "ll" + c, static_cast<unsigned long long>(v));
      break;
    }
    case 'c': out += print(spec + c, static_cast<int>(static_cast<uint8_t>(args.next(4)))); break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': out += print(spec + c, std::bit_cast<double>(args.next(8))); break;
    case 'p': out += fmt::format("{:#x}", args.next(8)); break;
    case 's': {
      std::string text;
      const uint64_t address = args.next(8);
      if (address == 0) {
        text = "(null)";
      } else {
        reader.read_string(address, text);
      }
      out += print(spec + c, text.c_str());
      break;
    }
    default: out += '%' + format.substr(start, i - start); break;  // copied unchanged, as on the device
  }
  return i;
}

uint64_t argument(Warp& w, const CallSite& site, size_t index, uint32_t lane) {
  uint64_t v = 0;
  const CallSite::Value& value = site.args[index];
  if (const uint8_t* p = call_value(w, value, lane); p != nullptr)
    std::memcpy(&v, p, std::min(value.bytes, 8u));
  return v;
}

}  // namespace

Effect exec_vprintf(Warp& w, const CallSite& site, LaneMask mask) {
  const PlainNumbers plain;
  std::string all;
  std::optional<uint64_t> bad;
  for_lanes(mask, [&](uint32_t lane) {
    GuestReader reader(w, lane);
    Arguments args(reader, argument(w, site, 1, lane));
    std::string format;
    if (!reader.read_string(argument(w, site, 0, lane), format)) bad = reader.bad();
    for (size_t i = 0; i < format.size();) {
      if (format[i] == '%') {
        i = convert(format, i + 1, args, reader, all);
      } else {
        all += format[i++];
      }
    }
    if (!args.ok()) bad = reader.bad();
    if (!site.results.empty()) {
      const auto count = static_cast<uint64_t>(args.count());
      const CallSite::Value& result = site.results[0];
      if (uint8_t* r = call_value(w, result, lane); r != nullptr) std::memcpy(r, &count, std::min(result.bytes, 8u));
    }
  });
  if (bad.has_value())
    return fault(w, Code::F3007, fmt::format("vprintf reads address {:#x}, where there is no memory", *bad));
  const Cluster& c = *w.cta->cluster;
  if (c.launch->output != nullptr) c.launch->output->append(c.index, all);
  return Effect::next;
}

Effect exec_assert_fail(Warp& w, const CallSite& site, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  GuestReader reader(w, lane);
  const auto text = [&](size_t index) {
    std::string s;
    reader.read_string(argument(w, site, index, lane), s);
    return s;
  };
  const Dim3 thread = w.cta->cluster->launch->block.at(uint64_t{w.index} * kWarpSize + lane);
  return fault(w, Code::F3702,
               fmt::format("{}:{}: {}: assertion `{}` failed in thread ({},{},{})", text(1),
                           static_cast<uint32_t>(argument(w, site, 2, lane)), text(3), text(0), thread.x,
                           thread.y, thread.z));
}

}  // namespace drywell::sim
