#define FX_ISA base
#define FX_ISA_NAME "base"
#include "isa.inl"
