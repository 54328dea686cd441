// NumPy .npy files: the format of input and output arrays (format specification: NEP 1, versions 1.0-3.0). Functions
// may be called at the same time for different paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drywell {

/// One array in C order. `dtype` is the file's own descriptor with the byte order normalised: "<f4", "<u2", "|u1", …
/// NumPy writes "<V2" for ml_dtypes' bfloat16: two opaque bytes per element.
struct NpyArray {
  std::string dtype;            // NumPy's descriptor
  std::vector<uint64_t> shape;  // outermost dimension first; empty = scalar
  std::vector<std::byte> data;  // element_size() * count() bytes, little endian

  /// Number of elements: the product of `shape`.
  uint64_t count() const;
  /// Bytes per element, from `dtype`.
  uint32_t element_size() const;
  /// Returns for example "float32[8192, 5120]"
  std::string describe() const;

  /// The elements as T. Throws InputError E4007 if `dtype` is not T's.
  template <class T>
  std::span<const T> values() const {
    static_assert(!kDtype<T>.empty(), "no .npy dtype for this type");
    require_dtype(kDtype<T>);
    return {reinterpret_cast<const T*>(data.data()), static_cast<size_t>(count())};
  }

  /// An array with a copy of `values`; throws InputError E4006 if `shape` has another element count.
  template <class T>
  static NpyArray of(std::span<const T> values, std::vector<uint64_t> shape) {
    static_assert(!kDtype<T>.empty(), "no .npy dtype for this type");
    return of_bytes(std::string(kDtype<T>), std::as_bytes(values), std::move(shape));
  }
  /// The same for any descriptor; E4005 if it is none, E4006 if `bytes` has another size.
  static NpyArray of_bytes(std::string dtype, std::span<const std::byte> bytes, std::vector<uint64_t> shape);

  /// NumPy's descriptor of T; only the specialisations below exist.
  template <class T>
  static constexpr std::string_view kDtype = {};

 private:
  void require_dtype(std::string_view wanted) const;
};

template <>
inline constexpr std::string_view NpyArray::kDtype<float> = "<f4";  // NumPy's float32
template <>
inline constexpr std::string_view NpyArray::kDtype<double> = "<f8";  // NumPy's float64
template <>
inline constexpr std::string_view NpyArray::kDtype<uint8_t> = "|u1";  // NumPy's uint8
template <>
inline constexpr std::string_view NpyArray::kDtype<int8_t> = "|i1";  // NumPy's int8
template <>
inline constexpr std::string_view NpyArray::kDtype<uint16_t> = "<u2";  // NumPy's uint16
template <>
inline constexpr std::string_view NpyArray::kDtype<int16_t> = "<i2";  // NumPy's int16
template <>
inline constexpr std::string_view NpyArray::kDtype<uint32_t> = "<u4";  // NumPy's uint32
template <>
inline constexpr std::string_view NpyArray::kDtype<int32_t> = "<i4";  // NumPy's int32
template <>
inline constexpr std::string_view NpyArray::kDtype<uint64_t> = "<u8";  // NumPy's uint64
template <>
inline constexpr std::string_view NpyArray::kDtype<int64_t> = "<i8";  // NumPy's int64

/// Reads a file. Throws InputError, naming the file: E4001 cannot be read, E4002 not a .npy file, E4003 bad header,
/// E4004 Fortran order, E4005 unsupported dtype, E4006 the data's size differs from the header's (truncated, trailing
/// bytes, shape too large).
NpyArray read_npy(const std::string& path);

/// As read_npy, from memory; `name` is the file name in messages.
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);

/// Returns the bytes of a version 1.0 file (2.0 if the header needs it).
std::vector<std::byte> format_npy(const NpyArray& array);

/// As write_file_atomically (drywell/core/files.h). Throws InputError E4008 (cannot be written).
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace drywell
