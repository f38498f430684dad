#include "push_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "push/table.hpp"

namespace nb = nanobind;
using namespace flexicase::push;

namespace push_values {
namespace {

// Borrowed for the life of the process: the modules that define them are never unloaded.
PyObject *symbol_type, *character_type, *single_type, *big_type;
PyObject *integer_types, *float_types, *boolean_types;

std::string utf8_of(nb::object text) {
  Py_ssize_t size = 0;
  const char* utf8 = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? std::string(utf8, static_cast<std::size_t>(size)) : "?";
}

std::string name_of_type(nb::handle value) { return utf8_of(value.type().attr("__name__")); }

[[noreturn]] void refuse(const Place& place, const std::string& expected) {
  throw nb::value_error((place.text() + " must " + expected).c_str());
}

[[noreturn]] void refuse_type(const Place& place, const std::string& expected, nb::handle found) {
  throw nb::type_error((place.text() + " must be " + expected + ", got " + name_of_type(found)).c_str());
}

nb::object checked(PyObject* made) {
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

bool is_a(nb::handle value, PyObject* type) {
  return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(type));
}

std::uint32_t length_of(std::size_t length, const Place& place) {
  if (length > UINT32_MAX) refuse(place, "have fewer than 2**32 elements");
  return static_cast<std::uint32_t>(length);
}

Item text_item(nb::handle value, Arena& arena, const Place& place) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (utf8 && std::none_of(utf8, utf8 + size, [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    const std::uint32_t length = length_of(static_cast<std::size_t>(size), place);
    auto* text = arena.take<char16_t>(length);
    std::copy(utf8, utf8 + size, text);
    return string(text, length);
  }
  PyErr_Clear();
  const nb::object bytes = checked(PyUnicode_AsEncodedString(value.ptr(), "utf-16-le", "surrogatepass"));
  const std::uint32_t length = length_of(static_cast<std::size_t>(PyBytes_Size(bytes.ptr())) / 2, place);
  auto* text = arena.take<char16_t>(length);
  std::memcpy(text, PyBytes_AsString(bytes.ptr()), std::size_t{2} * length);
  return string(text, length);
}

Item symbol_item(nb::handle value, const Place& place) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (!utf8) PyErr_Clear();
  if (!utf8 || !size || !std::all_of(utf8, utf8 + size, [](char c) { return c > ' ' && c < 127; })) {
    refuse(place, "have symbols of printable ASCII characters without spaces, got " +
                      utf8_of(nb::steal(PyObject_ASCII(value.ptr()))).substr(0, 80));
  }
  return symbol({utf8, static_cast<std::size_t>(size)});
}

Item integer_item(nb::handle value, bool big, const Place& place) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow) {
    const auto bits = nb::cast<std::int64_t>(value.attr("bit_length")());
    refuse(place, "fit in 64 bits, got an integer of " + std::to_string(bits) + " bits");
  }
  return integer(number, big);
}

Item character_item(nb::handle value, Arena& arena, const Place& place) {
  const Item text = text_item(value, arena, place);
  if (text.length != 1) {
    refuse(place, "have characters of one UTF-16 unit, got one of " + std::to_string(text.length));
  }
  return character(text.text[0]);
}

Item atom_item(nb::handle value, Arena& arena, const Place& place);

Item vector_item(nb::handle value, Arena& arena, const Place& place) {
  const auto items = nb::borrow<nb::tuple>(checked(PyList_AsTuple(value.ptr())));
  const std::uint32_t length = length_of(items.size(), place);
  Item* elements = arena.take<Item>(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    const nb::handle element = items[i];
    const bool nested = PyList_Check(element.ptr()) || PyTuple_Check(element.ptr());
    elements[i] = nested ? make(Kind::nil) : atom_item(element, arena, place);
    const Kind kind = elements[i].kind;
    if (kind != Kind::integer && kind != Kind::real && kind != Kind::boolean && kind != Kind::string) {
      refuse_type(place, "a vector of ints, floats, bools or strs if it is a list", element);
    }
    if (kind != elements[0].kind) {
      refuse_type(place,
                  "a vector of values of one kind if it is a list, but its first is " + name_of_type(items[0]) +
                      " and another is not",
                  element);
    }
  }
  return vector(elements, length);
}

// Anything but code in parentheses.
Item atom_item(nb::handle value, Arena& arena, const Place& place) {
  PyObject* object = value.ptr();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (object == Py_None) return make(Kind::nil);
  if (PyBool_Check(object)) return boolean(object == Py_True);
  if (PyLong_Check(object)) return integer_item(value, type == big_type, place);
  if (PyFloat_Check(object)) return real(PyFloat_AsDouble(object), type == single_type);
  if (PyList_Check(object)) return vector_item(value, arena, place);
  if (PyUnicode_Check(object)) {
    if (type == symbol_type) return symbol_item(value, place);
    return type == character_type ? character_item(value, arena, place) : text_item(value, arena, place);
  }
  if (is_a(value, integer_types)) return integer_item(checked(PyNumber_Index(object)), false, place);
  if (is_a(value, float_types)) return real(PyFloat_AsDouble(checked(PyNumber_Float(object)).ptr()));
  if (is_a(value, boolean_types)) return boolean(PyObject_IsTrue(object) == 1);
  refuse_type(place, "an int, float, bool, str, list, tuple, None, Symbol or Char", value);
}

nb::object call(PyObject* type, nb::handle argument) { return nb::handle(type)(argument); }

std::size_t bytes_of(const Item& item) {
  switch (item.kind) {
    case Kind::string: return 64 + std::size_t{2} * item.length;
    case Kind::vector:
    case Kind::list: return 64 + std::size_t{8} * item.length;
    default: return 32;
  }
}

}  // namespace

std::string Place::text() const {
  std::string text = name;
  if (i >= 0) text += "[" + std::to_string(i) + "]";
  if (j >= 0) text += "[" + std::to_string(j) + "]";
  return text;
}

void set_types(nb::object symbol, nb::object character, nb::object single, nb::object big, nb::object integers,
               nb::object floats, nb::object booleans) {
  symbol_type = symbol.release().ptr();
  character_type = character.release().ptr();
  single_type = single.release().ptr();
  big_type = big.release().ptr();
  integer_types = integers.release().ptr();
  float_types = floats.release().ptr();
  boolean_types = booleans.release().ptr();
}

Item from_python(nb::handle value, Arena& arena, const Place& place, std::size_t max_depth) {
  struct Open {
    nb::tuple tuple;
    std::uint32_t length, done;
    Item* place;
  };
  std::vector<Open> open;
  std::int64_t points = 0;
  const auto count = [&](std::int64_t more) {
    if ((points += more) > kMaxPoints) refuse(place, "have at most " + std::to_string(kMaxPoints) + " points");
  };
  for (nb::handle next = value;;) {
    Item made;
    if (PyTuple_Check(next.ptr())) {
      if (open.size() >= max_depth) refuse(place, "be nested at most " + std::to_string(max_depth) + " deep");
      auto tuple = nb::borrow<nb::tuple>(next);
      const std::uint32_t length = length_of(tuple.size(), place);
      count(1);
      open.push_back({std::move(tuple), length, 0, arena.take<Item>(std::size_t{length} + 1)});
    } else {
      made = atom_item(next, arena, place);
      if (open.empty()) return made;
      count(1);
      Open& list = open.back();
      list.place[list.length - list.done++] = made;
    }
    while (open.back().done == open.back().length) {
      made = seal_list(open.back().place, open.back().length, INT64_MAX);
      open.pop_back();
      if (open.empty()) return made;
      Open& list = open.back();
      list.place[list.length - list.done++] = made;
    }
    next = open.back().tuple[open.back().done];
  }
}

nb::object text_to_python(const char16_t* text, std::size_t length) {
  int order = -1;
  return checked(PyUnicode_DecodeUTF16(reinterpret_cast<const char*>(text), static_cast<Py_ssize_t>(2 * length),
                                       "surrogatepass", &order));
}

void ToPython::count(std::size_t bytes) {
  if (bytes > left_) {
    PyErr_SetString(PyExc_MemoryError,
                    "what the run leaves takes much more memory in Python than limits.memory allows it");
    nb::raise_python_error();
  }
  left_ -= bytes;
}

const nb::object* ToPython::known(const Item& item) const {
  const auto found = known_.find({item.items, static_cast<std::uint64_t>(item.kind) << 32 | item.length});
  return found == known_.end() ? nullptr : &found->second;
}

nb::object ToPython::atom(const Item& item) {
  switch (item.kind) {
    case Kind::integer: {
      nb::object number = nb::int_(item.number);
      return item.flag ? call(big_type, number) : number;
    }
    case Kind::real: {
      nb::object number = nb::float_(item.real);
      return item.flag ? call(single_type, number) : number;
    }
    case Kind::boolean: return nb::bool_(item.number != 0);
    case Kind::character: {
      const auto c = static_cast<char16_t>(item.number);
      return call(character_type, text_to_python(&c, 1));
    }
    case Kind::string: return text_to_python(item.text, item.length);
    case Kind::vector: {
      nb::object items = checked(PyList_New(static_cast<Py_ssize_t>(item.length)));
      for (std::uint32_t i = 0; i < item.length; ++i) {
        PyList_SetItem(items.ptr(), static_cast<Py_ssize_t>(i), (*this)(item.items[i]).release().ptr());
      }
      return items;
    }
    case Kind::nil: return nb::none();
    default: return call(symbol_type, nb::str(symbol_name(item).c_str()));
  }
}

nb::object ToPython::list(const Item& item) {
  struct Open {
    Item list;
    nb::object tuple;
    std::uint32_t done;
  };
  std::vector<Open> open;
  const auto start = [&](const Item& next) {
    count(bytes_of(next));
    open.push_back({next, checked(PyTuple_New(static_cast<Py_ssize_t>(next.length))), 0});
  };
  start(item);
  for (;;) {
    Open& top = open.back();
    if (top.done < top.list.length) {
      const Item& next = child(top.list, top.done);
      const nb::object* ready = is_list(next) ? known(next) : nullptr;
      if (is_list(next) && !ready) {
        start(next);
        continue;
      }
      PyTuple_SetItem(top.tuple.ptr(), static_cast<Py_ssize_t>(top.done++),
                      (ready ? *ready : (*this)(next)).inc_ref().ptr());
      continue;
    }
    nb::object made = std::move(top.tuple);
    known_.try_emplace({top.list.items, static_cast<std::uint64_t>(Kind::list) << 32 | top.list.length}, made);
    open.pop_back();
    if (open.empty()) return made;
  }
}

nb::object ToPython::operator()(const Item& item) {
  const bool shared = (is_sequence(item) || item.kind == Kind::string) && item.length;
  if (!shared) {
    count(bytes_of(item));
    return is_list(item) ? checked(PyTuple_New(0)) : atom(item);
  }
  if (const nb::object* ready = known(item)) return *ready;
  if (is_list(item)) return list(item);
  count(bytes_of(item));
  nb::object made = atom(item);
  known_.try_emplace({item.items, static_cast<std::uint64_t>(item.kind) << 32 | item.length}, made);
  return made;
}

nb::object error_to_python(std::exception_ptr failure) {
  if (!failure) return nb::none();
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const nb::python_error& error) {
    return nb::borrow(error.value());
  }
}

}  // namespace push_values
