// The instruction set that a translation unit is compiled for, as a namespace.
//
// isa_*.cpp set FX_ISA to the name of theirs. Every header of this folder is in namespace flexicase::FX_ISA, so each
// instruction set has its own copy of every function and the linker merges none of them. What these headers use from
// elsewhere must be FX_INLINE, a type or a constant: without optimisation, any other inline function or template
// becomes a symbol that all copies share, and the linker may keep one that this processor cannot run.
// `ctest -R isa-symbols` checks it. Order cursors are in an unnamed namespace besides: only then does the compiler
// inline the loop over events into its one caller and keep the state of an event in registers.
#pragma once

#include <cstdint>
#include <limits>

#ifndef FX_ISA
#define FX_ISA base
#endif

namespace flexicase::FX_ISA {

using u8 = std::uint8_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace flexicase::FX_ISA
