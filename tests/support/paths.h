// Paths of the source tree and the built command. Only paths.cpp is compiled with them, so that every other test object is
// the same in every checkout (compiler caches).
#pragma once

#include <string>
#include <string_view>

namespace drywell::test {

/// `relative` ("tests/data/npy") inside the source tree.
std::string source_path(std::string_view relative);
/// The drywell command; empty if the tools are not built.
std::string binary_path();

}  // namespace drywell::test
