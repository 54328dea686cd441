// The findings of one warp that runs a kernel of a few instructions.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {

using Codes = std::set<std::string>;

/// The codes under that driver. `text`: declarations and instructions of a kernel whose parameter `p` has the address of 256 bytes, all 0.
inline Codes warp_codes(const std::string& text, DriverKind driver) {
  Device d;
  const LoadedModule m = d.load_ptx(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" + text + "\nret;\n}\n");
  HazardChecker checker;
  const GmemAddr p = d.allocate(256);
  d.fill(p, 0, 256);
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(p), {.driver = driver, .listeners = {checker.listener()}});
  EXPECT_TRUE(r.ok()) << text;
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

inline void expect_warp_codes(const std::string& text, const Codes& codes) {
  for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) EXPECT_EQ(warp_codes(text, driver), codes) << text;
}

}  // namespace drywell::sim
