// Footprints against the engines: every asynchronous operation of the conformance suite runs with all memory outside its
// footprint inverted. Its result must not notice, and outside what it says it writes nothing may change.
#include "sim/engine/footprint.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "kernels/conformance/program.h"
#include "sim/observe/hub.h"

namespace drywell::kernels::conformance {
namespace {

using sim::AsyncMoment;
using sim::AsyncOp;
using sim::Cluster;
using sim::Memory;
using sim::Span;

/// Every byte of shared and tensor memory of a cluster.
struct Image {
  std::vector<std::vector<uint8_t>> smem;
  std::vector<std::vector<uint32_t>> tmem;  // column-major
};

Image image_of(const Cluster& c) {
  Image i;
  for (const auto& cta : c.ctas) {
    i.smem.emplace_back(cta->smem.data(), cta->smem.data() + cta->smem.size());
    i.tmem.emplace_back(cta->tmem->column(0), cta->tmem->column(0) + size_t{sim::kTmemLanes} * sim::kTmemColumns);
  }
  return i;
}

template <class Byte, class Cell>
void for_span(const Span& s, Byte byte, Cell cell) {
  if (s.memory == Memory::shared) {
    for (uint64_t i = 0; i < s.bytes; ++i) byte(s.cta, s.begin + i);
  } else if (s.memory == Memory::tmem) {
    for (uint32_t column = s.column; column < s.column + s.columns; ++column) {
      for (uint32_t lane = s.lane; lane < s.lane + s.lanes; ++lane) cell(s.cta, size_t{column} * sim::kTmemLanes + lane);
    }
  }
}

class Inverter : public sim::Listener {
 public:
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment moment) override {
    // Eager, alone in the queue: the engine runs it next.
    if (moment == AsyncMoment::issue && c.pending.size() == 1) begin(c, op);
    if (moment == AsyncMoment::signal && op.id == watched_) end(c);
  }
  size_t operations = 0;

 private:
  void begin(const Cluster& c, const AsyncOp& op) {
    before_ = image_of(c);
    Image poison = before_;
    for (auto& m : poison.smem) for (uint8_t& b : m) b = static_cast<uint8_t>(~b);
    for (auto& m : poison.tmem) for (uint32_t& v : m) v = ~v;
    const auto keep = [&](const Span& s) {
      for_span(s, [&](uint32_t cta, size_t i) { poison.smem[cta][i] = before_.smem[cta][i]; },
               [&](uint32_t cta, size_t i) { poison.tmem[cta][i] = before_.tmem[cta][i]; });
    };
    sim::for_each_read(c, op, keep);
    written_ = {};
    sim::for_each_write(c, op, [&](const Span& s) { written_.push_back(s); });
    // Cells and bytes an operation changes only in part keep the rest.
    for (const Span& s : written_) keep(s);
    put(c, poison);
    poison_ = std::move(poison);
    watched_ = op.id;
    ++operations;
  }

  void end(const Cluster& c) {
    Image after = image_of(c), expected = poison_;
    for (const Span& s : written_) {
      for_span(s, [&](uint32_t cta, size_t i) { expected.smem[cta][i] = before_.smem[cta][i] = after.smem[cta][i]; },
               [&](uint32_t cta, size_t i) { expected.tmem[cta][i] = before_.tmem[cta][i] = after.tmem[cta][i]; });
    }
    EXPECT_TRUE(after.smem == expected.smem && after.tmem == expected.tmem) << "an operation wrote outside its footprint";
    put(c, before_);
    watched_ = 0;
  }

  static void put(const Cluster& c, const Image& image) {
    for (size_t i = 0; i < c.ctas.size(); ++i) {
      std::copy(image.smem[i].begin(), image.smem[i].end(), c.ctas[i]->smem.data());
      std::copy(image.tmem[i].begin(), image.tmem[i].end(), c.ctas[i]->tmem->column(0));
    }
  }

  Image before_, poison_;
  std::vector<Span> written_;
  uint64_t watched_ = 0;
};

TEST(Footprint, OperationsKeepToTheirs) {
  SimulatedDevice device;
  const std::set<std::string> families = {"tcgen05", "tma", "bulk", "cluster", "tensor", "async_copy"};
  Inverter inverter;
  size_t programs = 0;
  for (const ProgramSpec& s : suite()) {
    if (s.name.find("tcgen05") == std::string::npos && !families.contains(s.family)) continue;
    if (++programs % 11 != 0) continue;  // forms repeat with other values: a tenth of the programs has each many times
    Program p;
    try {
      p = s.make(isa::Target::sm_100a);
    } catch (const InputError&) {
      continue;
    }
    sim::RunOptions o;
    o.listeners.push_back(&inverter);
    const Outcome r = run(p, device, o);
    EXPECT_TRUE(r.passed()) << s.name << ": " << r.detail;
  }
  EXPECT_GT(inverter.operations, 150u);
}

}  // namespace
}  // namespace drywell::kernels::conformance
