// Names of kernels and modules for people.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::cudart {

/// A name for each mangled name, at most 96 characters: without parameters, unless another of them differs in nothing else; names
/// that begin alike are cut out where they differ.
std::map<std::string, std::string> told_apart(const std::vector<std::string>& mangled);

/// The name of a module that came from memory: that of its first kernel, and the number of the module.
std::string name_of_image(std::string_view ptx, size_t number);

}  // namespace drywell::cudart
