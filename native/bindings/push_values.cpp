#include "push_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "push/table.hpp"

namespace nb = nanobind;
using namespace flexicase::push;

namespace push_values {
namespace {

// Borrowed for the life of the process: the module that defines them is never unloaded.
PyObject *symbol_type, *character_type, *single_type, *big_type;

Item text_item(nb::handle value, Arena& arena) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (utf8 && std::none_of(utf8, utf8 + size, [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    auto* text = arena.take<char16_t>(static_cast<std::size_t>(size));
    std::copy(utf8, utf8 + size, text);
    return string(text, static_cast<std::uint32_t>(size));
  }
  PyErr_Clear();
  nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-16-le", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  const auto length = static_cast<std::size_t>(PyBytes_Size(bytes.ptr())) / 2;
  auto* text = arena.take<char16_t>(length);
  std::memcpy(text, PyBytes_AsString(bytes.ptr()), 2 * length);
  return string(text, static_cast<std::uint32_t>(length));
}

std::string_view symbol_text(nb::handle value) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (!utf8) PyErr_Clear();
  if (!utf8 || !size || !std::all_of(utf8, utf8 + size, [](char c) { return c > ' ' && c < 127; })) {
    throw nb::value_error("the name of a Push symbol must be printable ASCII characters without spaces");
  }
  return {utf8, static_cast<std::size_t>(size)};
}

Item integer_item(nb::handle value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow) throw nb::value_error("a Push integer must fit in 64 bits");
  return integer(number, Py_TYPE(value.ptr()) == reinterpret_cast<PyTypeObject*>(big_type));
}

Item list_item(nb::handle value, Arena& arena, int depth) {
  if (depth >= kMaxDepth) throw nb::value_error("code is nested too deeply");
  const auto items = nb::borrow<nb::tuple>(value);
  const std::size_t length = items.size();
  Item* place = arena.take<Item>(length + 1);
  for (std::size_t i = 0; i < length; ++i) place[length - i] = from_python(items[i], arena, depth + 1);
  try {
    return seal_list(place, static_cast<std::uint32_t>(length), INT64_MAX);
  } catch (const LimitReached&) {
    throw nb::value_error("code is nested too deeply");
  }
}

Item vector_item(nb::handle value, Arena& arena) {
  const auto items = nb::borrow<nb::list>(value);
  const std::size_t length = items.size();
  Item* place = arena.take<Item>(length);
  for (std::size_t i = 0; i < length; ++i) {
    const nb::handle element = items[i];
    const bool nested = PyList_Check(element.ptr()) || PyTuple_Check(element.ptr());
    place[i] = nested ? make(Kind::nil) : from_python(element, arena);
    const Kind kind = place[i].kind;
    if (kind != Kind::integer && kind != Kind::real && kind != Kind::boolean && kind != Kind::string) {
      throw nb::type_error("the elements of a Push vector must be integers, floats, booleans or strings");
    }
    if (kind != place[0].kind) throw nb::type_error("the elements of a Push vector must all be of one kind");
  }
  return vector(place, static_cast<std::uint32_t>(length));
}

nb::object call(PyObject* type, nb::handle argument) { return nb::handle(type)(argument); }

}  // namespace

void set_types(nb::object symbol, nb::object character, nb::object single, nb::object big) {
  symbol_type = symbol.release().ptr();
  character_type = character.release().ptr();
  single_type = single.release().ptr();
  big_type = big.release().ptr();
}

Item from_python(nb::handle value, Arena& arena, int depth) {
  PyObject* object = value.ptr();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (object == Py_None) return make(Kind::nil);
  if (PyBool_Check(object)) return boolean(object == Py_True);
  if (PyLong_Check(object)) return integer_item(value);
  if (PyFloat_Check(object)) return real(PyFloat_AsDouble(object), type == single_type);
  if (PyTuple_Check(object)) return list_item(value, arena, depth);
  if (PyList_Check(object)) return vector_item(value, arena);
  if (PyUnicode_Check(object)) {
    if (type == symbol_type) return symbol(symbol_text(value));
    const Item text = text_item(value, arena);
    if (type != character_type) return text;
    if (text.length != 1) throw nb::value_error("a Push character must be one UTF-16 unit");
    return character(text.text[0]);
  }
  throw nb::type_error("a Push value must be an int, float, bool, str, list, tuple, None, Symbol or Char");
}

nb::object text_to_python(const char16_t* text, std::size_t length) {
  int order = -1;
  PyObject* made = PyUnicode_DecodeUTF16(reinterpret_cast<const char*>(text), static_cast<Py_ssize_t>(2 * length),
                                         "surrogatepass", &order);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

nb::object to_python(const Item& item) {
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
      nb::list items;
      for (std::uint32_t i = 0; i < item.length; ++i) items.append(to_python(item.items[i]));
      return items;
    }
    case Kind::list: {
      nb::list items;
      for (std::uint32_t i = 0; i < item.length; ++i) items.append(to_python(child(item, i)));
      return nb::tuple(items);
    }
    case Kind::nil: return nb::none();
    default: return call(symbol_type, nb::str(symbol_name(item).c_str()));
  }
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
