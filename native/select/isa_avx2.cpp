#define FX_ISA avx2
#define FX_ISA_NAME "avx2"
#include "isa.inl"
