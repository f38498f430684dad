// Code that no instruction can tell apart.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "push/item.hpp"

namespace flexicase::push {

// Do two items agree in all but where they lie in memory? `pending` is memory to work in. Each item compared is taken
// from `budget`; when nothing is left of it, the items count as different.
bool identical(const Item& a, const Item& b, std::vector<std::pair<Item, Item>>& pending, std::int64_t& budget);

// For each program the first that is identical to it. A program with an instruction from outside the engine, which may
// do something else each time, is identical to none but itself.
std::vector<std::size_t> first_identical(const std::vector<Item>& programs);

}  // namespace flexicase::push
