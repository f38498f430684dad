#define FX_ISA avx512
#define FX_ISA_NAME "avx512"
#include "isa.inl"
