// Footprints against the engines: every asynchronous operation of the conformance suite runs with all memory outside its
// footprint inverted. Its result must not change, and memory outside its written footprint must not change.
#include "sim/engine/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "conformance/programs/program.h"
#include "sim/check/footprints.h"
#include "sim/events/hub.h"

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
    for (auto& m : poison.smem)
      for (uint8_t& b : m) b = static_cast<uint8_t>(~b);
    for (auto& m : poison.tmem)
      for (uint32_t& v : m) v = ~v;
    const auto keep = [&](const Span& s) {
      for_span(
          s, [&](uint32_t cta, size_t i) { poison.smem[cta][i] = before_.smem[cta][i]; },
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
      for_span(
          s, [&](uint32_t cta, size_t i) { expected.smem[cta][i] = before_.smem[cta][i] = after.smem[cta][i]; },
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

/// Runs each `one_in`th asynchronous program: forms repeat with other values, a tenth of the programs has each many times.
void watch_programs(sim::Listener& listener, size_t one_in) {
  SimulatedDevice device;
  const std::set<std::string> families = {"tcgen05", "tma", "bulk", "cluster", "tensor", "async_copy"};
  size_t programs = 0;
  for (const ProgramSpec& s : suite()) {
    if (s.name.find("tcgen05") == std::string::npos && !families.contains(s.family)) continue;
    if (++programs % one_in != 0) continue;
    Program p;
    try {
      p = s.make(isa::Target::sm_100a);
    } catch (const InputError&) {
      continue;
    }
    sim::RunOptions o;
    o.listeners.push_back(&listener);
    const Outcome r = run(p, device, o);
    EXPECT_TRUE(r.passed()) << s.name << ": " << r.detail;
  }
}

TEST(Footprint, OperationsKeepToTheirs) {
  Inverter inverter;
  watch_programs(inverter, 11);
  EXPECT_GT(inverter.operations, 150u);
}

/// Computes the footprint of each operation and then, for each field, the footprint with another value of the field: a cache that
/// confuses the two is detected.
class Asker : public sim::Listener {
 public:
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment moment) override {
    if (moment != AsyncMoment::issue) return;
    if (const auto* u = std::get_if<sim::Umma>(&op.payload)) {
      for (const auto& change : mma_changes()) ask(c, op, *u, change);
    } else if (const auto* t = std::get_if<sim::TmemCopy>(&op.payload)) {
      for (const auto& change : copy_changes()) ask(c, op, *t, change);
    }
  }
  size_t asked = 0;

 private:
  static std::vector<void (*)(sim::Umma&)> mma_changes() {
    using U = sim::Umma&;
    return {[](U u) { u.idesc ^= 1u << 17; }, [](U u) { u.d += 8; }, [](U u) { u.a += 8; }, [](U u) { u.b += 8; },
            [](U u) { u.a_in_tmem = !u.a_in_tmem, u.ashift = false; }, [](U u) { u.accumulate = !u.accumulate; }, [](U u) { u.ws = !u.ws; },
            [](U u) { u.sparse = !u.sparse; }, [](U u) { u.ashift = !u.ashift && u.a_in_tmem; }, [](U u) { u.cta_group ^= 3; }, [](U u) { u.sfa += 4; }, [](U u) { u.sfb += 4; },
            [](U u) { u.meta += 4; }, [](U u) { u.scale_vec ^= 2; }, [](U u) { u.disable_lane[0] ^= 5; }, [](U u) { u.zero_column_mask ^= 1; }};
  }
  static std::vector<void (*)(sim::TmemCopy&)> copy_changes() {
    using C = sim::TmemCopy&;
    return {[](C p) { p.taddr += 4; }, [](C p) { p.desc += 8; }, [](C p) { p.cta_group ^= 3; },
            [](C p) { p.shape = p.shape == isa::Mod::_4x256b ? isa::Mod::_128x256b : isa::Mod::_4x256b; }};
  }
  template <class Payload>
  void ask(const Cluster& c, const AsyncOp& op, Payload p, void (*change)(Payload&)) {
    compare(c, op, p);
    change(p);
    compare(c, op, p);
  }

  template <class Payload>
  void compare(const Cluster& c, const AsyncOp& op, Payload p) {
    AsyncOp asked_for;
    asked_for.issuer = op.issuer;
    asked_for.payload = p;
    std::vector<Span> writes, cells, operands;
    sim::for_each_write(c, asked_for, [&](const Span& s) { writes.push_back(s); });
    if (auto* u = std::get_if<sim::Umma>(&asked_for.payload)) u->accumulate = false;  // it counts as written only
    sim::for_each_read(c, asked_for, [&](const Span& s) { (s.memory == Memory::tmem ? cells : operands).push_back(s); });
    const auto& known = known_.cells(c, op, p);
    EXPECT_EQ(known.reads, cells);
    EXPECT_EQ(known.writes, writes);
    const auto& runs = known_.operands(c, op, p);
    EXPECT_TRUE(std::equal(runs.begin(), runs.end(), operands.begin(), operands.end(),
                           [](const auto& run, const Span& s) { return run.cta == s.cta && run.begin == s.begin && run.bytes == s.bytes; }));
    ++asked;
  }

  sim::check::KnownFootprints known_;
};

TEST(Footprint, WhatIsRememberedIsWhatIsTouched) {
  Asker asker;
  watch_programs(asker, 23);
  EXPECT_GT(asker.asked, 800u);
}

}  // namespace
}  // namespace drywell::kernels::conformance
