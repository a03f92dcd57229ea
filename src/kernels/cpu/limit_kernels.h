// The functions behind limits.h, by instruction set; defined in the folder of their name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::kernels {

namespace amx {
float multiply_add(std::uint64_t multiply_adds);
float multiply_add_int8(std::uint64_t multiply_adds);
}  // namespace amx
namespace avx512bf16 {
float multiply_add(std::uint64_t multiply_adds);
}
namespace avx512vnni {
float multiply_add_int8(std::uint64_t multiply_adds);
}
namespace avxvnni {
float multiply_add_int8(std::uint64_t multiply_adds);
}
namespace avx512 {
std::uint64_t read_paired_nta(const std::byte* from, std::uint64_t bytes);
std::uint64_t read_interleaved(const std::byte* from, std::uint64_t bytes);
float multiply_add(std::uint64_t multiply_adds);
}  // namespace avx512
namespace avx2 {
std::uint64_t read_paired_nta(const std::byte* from, std::uint64_t bytes);
std::uint64_t read_interleaved(const std::byte* from, std::uint64_t bytes);
float multiply_add(std::uint64_t multiply_adds);
float multiply_add_int8(std::uint64_t multiply_adds);
}  // namespace avx2
namespace portable {
std::uint64_t read_plain(const std::byte* from, std::uint64_t bytes);
float multiply_add(std::uint64_t multiply_adds);
float multiply_add_int8(std::uint64_t multiply_adds);
}  // namespace portable

}  // namespace tare::kernels
