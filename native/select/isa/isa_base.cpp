#define FX_ISA base
#include "select/isa/table.hpp"
