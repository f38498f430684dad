// Instructions written in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "gil.hpp"
#include "push/foreign.hpp"
#include "push/table.hpp"
#include "push_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase::push;

namespace {

constexpr const char* kExpected[kStacks] = {
    "code",  "code",          "an int",          "a float",        "a bool",       "a str of one character",
    "a str", "a list of int", "a list of float", "a list of bool", "a list of str"};
// Code nested more deeply is not given to functions: what they do with it may need much of a stack that may be small.
constexpr int kMaxNesting = 1000;
// What messages call a value that was returned.
constexpr const char* kResult = "the value returned";
constexpr StackId kElements[] = {kInteger, kFloat, kBoolean, kString};

nb::object checked(PyObject* made) {
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

[[noreturn]] void refuse(int stack, nb::handle value) {
  const auto type = nb::cast<std::string>(value.type().attr("__name__"));
  PyErr_Format(PyExc_TypeError, "must return %s for the stack %s, got %s", kExpected[stack], kStackNames[stack],
               type.c_str());
  nb::raise_python_error();
}

// A thread that Python does not know is made known to it once, not at each call.
class KnownThread {
 public:
  KnownThread() {
    if (PyGILState_GetThisThreadState()) return;
    state_ = flexicase::ensure_gil();
    saved_ = PyEval_SaveThread();
  }
  ~KnownThread() {
    if (!saved_) return;
    flexicase::restore_thread(saved_);
    PyGILState_Release(state_);
  }
  KnownThread(const KnownThread&) = delete;
  KnownThread& operator=(const KnownThread&) = delete;

 private:
  PyGILState_STATE state_{};
  PyThreadState* saved_ = nullptr;
};

// Values that instructions return become items within the limits of the run. The conversions are false, and the
// instruction does nothing, for what is longer than native instructions make it.
class Results {
 public:
  explicit Results(Machine& m) : m_(m) {}

  bool add(nb::handle value, StackId stack) {
    Item item;
    if (!convert(value, stack, item)) return false;
    items.push_back(item);
    return true;
  }

  std::vector<Item> items;

 private:
  bool convert(nb::handle value, StackId stack, Item& item) {
    switch (stack) {
      case kExec:
      case kCode: return code(value, item);
      case kInteger: return integer_result(value, item);
      case kFloat: return real_result(value, item);
      case kBoolean: return boolean_result(value, item);
      case kChar:
      case kString: return text(value, stack, item);
      default: return vector_result(value, stack, item);
    }
  }
  bool code(nb::handle value, Item& item) {
    item = push_values::from_python(value, m_.arena, {kResult}, kMaxNesting);
    return points(item) <= m_.limits.points && height(item) <= kMaxHeight;
  }
  bool integer_result(nb::handle value, Item& item) {
    if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) refuse(kInteger, value);
    const nb::object number = checked(PyNumber_Index(value.ptr()));
    int overflow = 0;
    const long long exact = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    const bool big =
        PyLong_Check(value.ptr()) && !overflow && push_values::from_python(value, m_.arena, {kResult}).flag;
    item = Machine::limited(overflow ? static_cast<Wide>(overflow) * (kMaxNumber + 1) : Wide{exact}, big);
    return true;
  }
  bool real_result(nb::handle value, Item& item) {
    if (PyBool_Check(value.ptr()) || !nb::hasattr(value.type(), "__float__")) refuse(kFloat, value);
    const bool single = PyFloat_Check(value.ptr()) && push_values::from_python(value, m_.arena, {kResult}).flag;
    const double exact = as_double(value);
    item = m_.limited(exact);
    item.flag = single && item.real == exact;
    return true;
  }
  static double as_double(nb::handle value) {
    PyObject* number = PyNumber_Float(value.ptr());
    if (number) return PyFloat_AsDouble(nb::steal(number).ptr());
    if (!PyLong_Check(value.ptr()) || !PyErr_ExceptionMatches(PyExc_OverflowError)) nb::raise_python_error();
    PyErr_Clear();
    int sign = 0;
    PyLong_AsLongLongAndOverflow(value.ptr(), &sign);
    return sign * 2 * kMaxReal;
  }
  static bool boolean_result(nb::handle value, Item& item) {
    const auto type = nb::cast<std::string>(value.type().attr("__name__"));
    if (!PyBool_Check(value.ptr()) && type != "bool" && type != "bool_") refuse(kBoolean, value);
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) nb::raise_python_error();
    item = boolean(truth != 0);
    return true;
  }
  bool text(nb::handle value, StackId stack, Item& item) {
    if (!PyUnicode_Check(value.ptr())) refuse(stack, value);
    if (stack == kString && PyUnicode_GetLength(value.ptr()) > kMaxLength) return false;
    if (stack == kChar && PyUnicode_GetLength(value.ptr()) != 1) refuse(stack, value);
    item = push_values::from_python(checked(PyObject_Str(value.ptr())), m_.arena, {kResult});
    if (item.kind != Kind::string || (stack == kChar && item.length != 1)) refuse(stack, value);
    if (stack == kChar) item = character(item.text[0]);
    return stack == kChar || item.length <= kMaxLength;
  }
  bool vector_result(nb::handle value, StackId stack, Item& item) {
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) refuse(stack, value);
    if (PyObject_Size(value.ptr()) > static_cast<Py_ssize_t>(kMaxLength)) return false;
    const auto elements = nb::borrow<nb::tuple>(checked(PySequence_Tuple(value.ptr())));
    const std::size_t length = elements.size();
    if (length > kMaxLength) return false;
    Item* place = m_.arena.take<Item>(length);
    for (std::size_t i = 0; i < length; ++i) {
      if (!convert(elements[i], kElements[stack - kVectorInteger], place[i])) return false;
    }
    item = vector(place, static_cast<std::uint32_t>(length));
    return true;
  }

  Machine& m_;
};

class PythonInstruction final : public Foreign {
 public:
  // The function is kept for the life of the process.
  PythonInstruction(std::string name, int blocks, nb::object function, std::vector<StackId> takes,
                    std::vector<StackId> gives)
      : Foreign(std::move(name), blocks, signature(takes, gives, blocks)),
        function_(function.release().ptr()),
        takes_(std::move(takes)),
        gives_(std::move(gives)) {
    for (const StackId stack : takes_) ++needed_[stack];
  }

  static std::string signature(const std::vector<StackId>& takes, const std::vector<StackId>& gives, int blocks) {
    const auto joined = [](const std::vector<StackId>& stacks) {
      std::string names;
      for (const StackId stack : stacks) names.append(names.empty() ? "" : ",").append(kStackNames[stack]);
      return names;
    };
    return joined(takes).append("->").append(joined(gives)).append("/").append(std::to_string(blocks));
  }

  void run(Machine& m) const override {
    for (int s = 0; s < kStacks; ++s) {
      if (m.stacks[s].size < needed_[s]) return;
    }
    thread_local const KnownThread known;
    if (nested_too_deeply(m)) return;
    const flexicase::WithGil held;
    try {
      try {
        call(m);
      } catch (const nb::builtin_exception& error) {
        PyErr_SetString(PyExc_TypeError, error.what());
        nb::raise_python_error();
      }
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
      m.failure = std::current_exception();
      throw LimitReached{Status::foreign_error};
    }
  }

 private:
  bool nested_too_deeply(const Machine& m) const {
    for (const StackId stack : {kExec, kCode}) {
      for (std::int64_t i = 0; i < needed_[stack]; ++i) {
        if (height(m.stacks[stack].top(i)) > kMaxNesting) return true;
      }
    }
    return false;
  }

  void call(Machine& m) const {
    const std::vector<nb::object> arguments = arguments_of(m);
    std::vector<PyObject*> given;
    for (const nb::object& argument : arguments) given.push_back(argument.ptr());
    const nb::object returned = checked(flexicase::call_python(function_, given.data(), given.size()));
    Results results(m);
    if (!convert(returned, results)) return;
    for (int s = 0; s < kStacks; ++s) m.stacks[s].drop(needed_[s]);
    for (std::size_t i = 0; i < gives_.size(); ++i) m.stacks[gives_[i]].push(results.items[i]);
  }

  // The last argument is the top of its stack, so that arguments come in the order in which a program writes them.
  std::vector<nb::object> arguments_of(const Machine& m) const {
    std::array<std::int64_t, kStacks> depth{};
    std::vector<nb::object> arguments(takes_.size());
    for (std::size_t i = takes_.size(); i-- > 0;) {
      arguments[i] = push_values::ToPython()(m.stacks[takes_[i]].top(depth[takes_[i]]++));
    }
    return arguments;
  }

  bool convert(nb::handle returned, Results& results) const {
    if (gives_.empty()) {
      if (!returned.is_none()) fail("must return None, got", returned);
      return true;
    }
    if (gives_.size() == 1) return results.add(returned, gives_[0]);
    if (!PyTuple_Check(returned.ptr()) && !PyList_Check(returned.ptr())) fail("must return a tuple, got", returned);
    const auto values = nb::borrow<nb::tuple>(checked(PySequence_Tuple(returned.ptr())));
    if (values.size() != gives_.size()) {
      PyErr_Format(PyExc_TypeError, "must return %zd values, got %zd", static_cast<Py_ssize_t>(gives_.size()),
                   static_cast<Py_ssize_t>(values.size()));
      nb::raise_python_error();
    }
    for (std::size_t i = 0; i < gives_.size(); ++i) {
      if (!results.add(values[i], gives_[i])) return false;
    }
    return true;
  }

  [[noreturn]] static void fail(const char* expected, nb::handle found) {
    const auto type = nb::cast<std::string>(found.type().attr("__name__"));
    PyErr_Format(PyExc_TypeError, "%s %s", expected, type.c_str());
    nb::raise_python_error();
  }

  PyObject* function_;
  std::vector<StackId> takes_, gives_;
  std::array<std::int64_t, kStacks> needed_{};
};

std::vector<StackId> stack_ids(const std::vector<std::string>& names) {
  std::vector<StackId> found;
  for (const std::string& name : names) {
    const auto* at = std::find(std::begin(kStackNames), std::end(kStackNames), name);
    if (at == std::end(kStackNames)) throw nb::value_error(("no stack is named " + name).c_str());
    found.push_back(static_cast<StackId>(at - kStackNames));
  }
  return found;
}

void define(const std::string& name, int blocks, nb::object function, const std::vector<std::string>& takes,
            const std::vector<std::string>& gives) {
  add_foreign(new PythonInstruction(name, blocks, std::move(function), stack_ids(takes), stack_ids(gives)));
}

// Does the engine itself give the name a meaning?
bool is_taken(const std::string& name) {
  const Kind kind = symbol(name).kind;
  return kind != Kind::symbol && kind != Kind::foreign;
}

}  // namespace

void bind_push_python(nb::module_& m) {
  m.def("push_define", &define, "name"_a, "blocks"_a, "function"_a, "takes"_a, "gives"_a);
  m.def("push_undefine", [](const std::string& name) { return remove_foreign(name); }, "name"_a);
  m.def("push_is_taken", &is_taken, "name"_a);
}
