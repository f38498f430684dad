// Instructions of the four vector stacks.
#include <algorithm>
#include <cmath>

#include "push/common.hpp"

namespace flexicase::push {
namespace {

struct Before {
  Machine& m;

  bool operator()(const Item& a, const Item& b) const {
    switch (a.kind) {
      case Kind::real: return a.real < b.real;
      case Kind::string:
        m.spend(std::min(a.length, b.length));
        return std::u16string_view(a.text, a.length) < std::u16string_view(b.text, b.length);
      default: return a.number < b.number;
    }
  }
};

// Sorts what lies behind `next` into what is sorted before it: each item goes behind those it does not precede.
void insertion_sort(Item* first, Item* next, Item* last, const Before& before) {
  for (; next < last; ++next) {
    std::rotate(std::upper_bound(first, next, *next, before), next, next + 1);
    before.m.spend(next - first);
  }
}

// NaN neither precedes nor follows anything, so where it ends up is up to the way of sorting: a first run that rises,
// or falls and is reversed, then insertion, as the language's host sorts up to 31 items.
void sort_with_nan(Item* first, Item* last, const Before& before) {
  Item* run = first + 1;
  if (run < last && before(*run, *first)) {
    do ++run;
    while (run < last && before(*run, run[-1]));
    std::reverse(first, run);
  } else {
    while (run < last && !before(*run, run[-1])) ++run;
  }
  insertion_sort(first, std::min(run, last), last, before);
}

// Stable; `spare` has room for as many items.
void merge_sort(Item* first, std::ptrdiff_t length, Item* spare, const Before& before) {
  constexpr std::ptrdiff_t kRun = 16;
  for (std::ptrdiff_t i = 0; i < length; i += kRun) {
    insertion_sort(first + i, first + i, first + std::min(i + kRun, length), before);
  }
  for (std::ptrdiff_t width = kRun; width < length; width *= 2) {
    for (std::ptrdiff_t i = 0; i < length; i += 2 * width) {
      Item *middle = first + std::min(i + width, length), *end = first + std::min(i + 2 * width, length);
      std::merge(first + i, middle, middle, end, spare + i, before);
    }
    std::copy_n(spare, length, first);
    before.m.spend(10 * length);
  }
}

template <StackId V, StackId E>
struct Vectors {
  static Stack& vectors(Machine& m) { return m.stacks[V]; }
  static Stack& elements(Machine& m) { return m.stacks[E]; }
  static Stack& integers(Machine& m) { return m.stacks[kInteger]; }
  static Item* copy(Machine& m, const Item& v, std::size_t room) {
    Item* place = m.arena.take<Item>(room);
    std::copy_n(v.items, v.length, place);
    return place;
  }
  static Item slice(const Item& v, std::int64_t begin, std::int64_t end) {
    return vector(v.items + begin, static_cast<std::uint32_t>(end - begin));
  }

  static void concat(Machine& m) {
    Stack& s = vectors(m);
    if (s.size < 2 || s.top(0).length + s.top(1).length > kMaxLength) return;
    const Item x = s.top(0), y = s.top(1);
    Item* place = copy(m, y, x.length + y.length);
    std::copy_n(x.items, x.length, place + y.length);
    s.drop(1);
    s.top() = vector(place, x.length + y.length);
  }
  static void conj(Machine& m) {
    Stack& s = vectors(m);
    if (!s.size || !elements(m).size || s.top().length + 1 > kMaxLength) return;
    const std::uint32_t length = s.top().length;
    Item* place = copy(m, s.top(), length + 1);
    place[length] = elements(m).pop();
    s.top() = vector(place, length + 1);
  }
  static void take(Machine& m) {
    Stack& s = vectors(m);
    if (!s.size || !integers(m).size) return;
    s.top() = slice(s.top(), 0, clamp_index(integers(m).pop().number, 0, s.top().length));
  }
  static void subvec(Machine& m) {
    Stack& s = vectors(m);
    if (!s.size || integers(m).size < 2) return;
    const std::int64_t end = integers(m).pop().number, begin = integers(m).pop().number, length = s.top().length;
    const std::int64_t i = std::min(length, std::max<std::int64_t>(0, begin));
    s.top() = slice(s.top(), i, std::min(length, std::max(i, end)));
  }
  static void first(Machine& m) {
    if (!vectors(m).size || !vectors(m).top().length) return;
    elements(m).push(vectors(m).pop().items[0]);
  }
  static void last(Machine& m) {
    if (!vectors(m).size || !vectors(m).top().length) return;
    const Item v = vectors(m).pop();
    elements(m).push(v.items[v.length - 1]);
  }
  static void nth(Machine& m) {
    if (!vectors(m).size || !vectors(m).top().length || !integers(m).size) return;
    const Item v = vectors(m).pop();
    const std::int64_t n = integers(m).pop().number;
    elements(m).push(v.items[floored_mod(n, v.length)]);
  }
  static void rest(Machine& m) {
    Stack& s = vectors(m);
    if (s.size && s.top().length) s.top() = slice(s.top(), 1, s.top().length);
  }
  static void butlast(Machine& m) {
    Stack& s = vectors(m);
    if (s.size && s.top().length) s.top() = slice(s.top(), 0, s.top().length - 1);
  }
  static void length(Machine& m) {
    if (vectors(m).size) integers(m).push(integer(vectors(m).pop().length));
  }
  static void reverse(Machine& m) {
    Stack& s = vectors(m);
    if (!s.size) return;
    Item* place = copy(m, s.top(), s.top().length);
    std::reverse(place, place + s.top().length);
    s.top().items = place;
  }
  static void pushall(Machine& m) {
    if (!vectors(m).size) return;
    const Item v = vectors(m).pop();
    m.spend(v.length);
    std::reverse_copy(v.items, v.items + v.length, elements(m).extend(v.length));
  }
  static void emptyvector(Machine& m) {
    if (vectors(m).size) m.stacks[kBoolean].push(boolean(vectors(m).pop().length == 0));
  }
  // What looking at all elements costs, strings by their lengths.
  static void spend_on(Machine& m, const Item& v, const Item& x) {
    m.spend(4 * std::int64_t{v.length} * (1 + (x.kind == Kind::string ? x.length / 8 : 0)));
  }
  static std::int64_t find(Machine& m, const Item& v, const Item& x) {
    spend_on(m, v, x);
    for (std::uint32_t i = 0; i < v.length; ++i) {
      if (equal(m, v.items[i], x)) return i;
    }
    return -1;
  }
  static bool with_element(Machine& m, std::int64_t count = 1) { return vectors(m).size && elements(m).size >= count; }
  static void contains(Machine& m) {
    if (!with_element(m)) return;
    const Item v = vectors(m).pop(), x = elements(m).pop();
    m.stacks[kBoolean].push(boolean(find(m, v, x) >= 0));
  }
  static void indexof(Machine& m) {
    if (!with_element(m)) return;
    const Item v = vectors(m).pop(), x = elements(m).pop();
    integers(m).push(integer(find(m, v, x)));
  }
  static void occurrencesof(Machine& m) {
    if (!with_element(m)) return;
    const Item v = vectors(m).pop(), x = elements(m).pop();
    spend_on(m, v, x);
    integers(m).push(
        integer(std::count_if(v.items, v.items + v.length, [&](const Item& y) { return equal(m, x, y); })));
  }
  static void set(Machine& m) {
    if (!with_element(m, E == kInteger ? 2 : 1) || !integers(m).size) return;
    const std::int64_t n = integers(m).pop().number;
    const Item x = elements(m).pop();
    Item& v = vectors(m).top();
    if (!v.length) return;
    Item* place = copy(m, v, v.length);
    place[floored_mod(n, v.length)] = x;
    v.items = place;
  }
  static void replace_in(Machine& m, bool only_first) {
    if (!with_element(m, 2)) return;
    const Item fresh = elements(m).pop(), old = elements(m).pop();
    Item& v = vectors(m).top();
    const std::int64_t start = find(m, v, old);
    if (start < 0) return;
    Item* place = copy(m, v, v.length);
    place[start] = fresh;
    for (std::int64_t i = start + 1; i < v.length && !only_first; ++i) {
      if (equal(m, place[i], old)) place[i] = fresh;
    }
    v.items = place;
  }
  // Replacing all looks numbers up by value alone, so that it never finds NaN.
  static void replace(Machine& m) {
    if (E == kFloat && with_element(m, 2) && std::isnan(elements(m).top(1).real)) return elements(m).drop(2);
    replace_in(m, false);
  }
  static void replacefirst(Machine& m) { replace_in(m, true); }
  static void remove(Machine& m) {
    if (!with_element(m)) return;
    const Item x = elements(m).pop();
    Item& v = vectors(m).top();
    spend_on(m, v, x);
    Item* place = m.arena.take<Item>(v.length);
    const Item* end = std::copy_if(v.items, v.items + v.length, place, [&](const Item& y) { return !equal(m, x, y); });
    v = vector(place, static_cast<std::uint32_t>(end - place));
  }
  static void sort(Machine& m) {
    Stack& s = vectors(m);
    if (!s.size) return;
    const Item v = s.top();
    Item* place = copy(m, v, v.length);
    const bool unordered =
        E == kFloat && std::any_of(v.items, v.items + v.length, [](const Item& x) { return std::isnan(x.real); });
    if (unordered) {
      sort_with_nan(place, place + v.length, {m});
    } else {
      m.built.resize(std::max<std::size_t>(m.built.size(), v.length));
      merge_sort(place, v.length, m.built.data(), {m});
    }
    s.top().items = place;
  }
  static void iterate(Machine& m) {
    Stack& exec = m.stacks[kExec];
    if (!exec.size || !vectors(m).size) return;
    const Item v = vectors(m).pop();
    if (v.length == 0) return exec.drop(1);
    elements(m).push(v.items[0]);
    if (v.length == 1) return;
    static const Item self = instruction(std::string("exec_do*") + kStackNames[V]);
    const Item block = exec.top();
    exec.push(self);
    exec.push(slice(v, 1, v.length));
    exec.push(block);
  }

  static void add(Table& t) {
    using Do = Vectors;
    add_common<V>(t);
    const std::string own = kStackNames[V], element = kStackNames[E], prefix = own + "_";
    t.add(prefix + "concat", {own}, Do::concat);
    t.add(prefix + "conj", {own, element}, Do::conj);
    t.add(prefix + "take", {own, "integer"}, Do::take);
    t.add(prefix + "subvec", {own, "integer"}, Do::subvec);
    t.add(prefix + "first", {own, element}, Do::first);
    t.add(prefix + "last", {own, element}, Do::last);
    t.add(prefix + "nth", {own, element, "integer"}, Do::nth);
    t.add(prefix + "rest", {own}, Do::rest);
    t.add(prefix + "butlast", {own}, Do::butlast);
    t.add(prefix + "length", {own, "integer"}, Do::length);
    t.add(prefix + "reverse", {own}, Do::reverse);
    t.add(prefix + "pushall", {own, element}, Do::pushall);
    t.add(prefix + "emptyvector", {own, "boolean"}, Do::emptyvector);
    t.add(prefix + "contains", {own, element, "boolean"}, Do::contains);
    t.add(prefix + "indexof", {own, element, "integer"}, Do::indexof);
    t.add(prefix + "occurrencesof", {own, element, "integer"}, Do::occurrencesof);
    t.add(prefix + "set", {own, element, "integer"}, Do::set);
    t.add(prefix + "replace", {own, element}, Do::replace);
    t.add(prefix + "replacefirst", {own, element}, Do::replacefirst);
    t.add(prefix + "remove", {own, element}, Do::remove);
    t.add(prefix + "sort", {own}, Do::sort, 0, kLater);
    t.add("exec_do*" + own, {own, element, "exec"}, Do::iterate, 1);
  }
};

}  // namespace

void add_vectors(Table& t) {
  Vectors<kVectorInteger, kInteger>::add(t);
  Vectors<kVectorFloat, kFloat>::add(t);
  Vectors<kVectorBoolean, kBoolean>::add(t);
  Vectors<kVectorString, kString>::add(t);
}

}  // namespace flexicase::push
