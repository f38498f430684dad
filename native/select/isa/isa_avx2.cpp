#define FX_ISA avx2
#include "select/isa/table.hpp"
