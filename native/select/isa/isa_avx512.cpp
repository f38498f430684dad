#define FX_ISA avx512
#include "select/isa/table.hpp"
