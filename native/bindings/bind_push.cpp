#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "gil.hpp"
#include "push/genome.hpp"
#include "push/population.hpp"
#include "push/table.hpp"
#include "push/text.hpp"
#include "push_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase::push;
using push_values::ToPython;

namespace {

constexpr const char* kStatusNames[] = {"normal",     "step_limit",          "stack_limit",   "memory_limit",
                                        "code_limit", "unknown_instruction", "missing_input", "python_error"};

struct Genome {
  Arena arena{1024};
  std::vector<Gene> genes;
};

// The machine of this thread, with the memory that it has, or another while that one is running: an instruction
// written in Python may run programs itself.
class Lease {
 public:
  Lease() : mine_(!leased) {
    thread_local Machine own;
    if (!mine_) other_ = std::make_unique<Machine>();
    machine_ = mine_ ? &own : other_.get();
    leased = true;
  }
  ~Lease() {
    if (mine_) leased = false;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Machine& operator*() const { return *machine_; }

 private:
  static thread_local bool leased;
  bool mine_;
  std::unique_ptr<Machine> other_;
  Machine* machine_;
};
thread_local bool Lease::leased = false;

std::shared_ptr<Code> compile(nb::handle value, const char* name) {
  auto code = std::make_shared<Code>();
  code->item = push_values::from_python(value, code->arena, {name});
  return code;
}

std::shared_ptr<Genome> genome(nb::list items, const std::vector<int>& close, const std::vector<int>& silent) {
  auto made = std::make_shared<Genome>();
  const std::size_t size = items.size();
  if (close.size() != size || silent.size() != size) throw nb::value_error("one close and one silent for each gene");
  for (std::size_t i = 0; i < size; ++i) {
    if (silent[i] < 0 || silent[i] > 2) throw nb::value_error("silent must be 0, 1 or 2");
    const Item item = push_values::from_python(items[i], made->arena, {"genes", static_cast<std::int64_t>(i)});
    made->genes.push_back({item, close[i], static_cast<Silence>(silent[i])});
  }
  return made;
}

// Translated code keeps its genome alive: it shares the genome's strings and vectors.
struct Translated : Code {
  using Code::Code;
  std::shared_ptr<Genome> genome;
};

std::shared_ptr<Code> translate_genome(std::shared_ptr<Genome> source, std::int64_t max_points) {
  auto code = std::make_shared<Translated>(2 * sizeof(Item) * (source->genes.size() + 8));
  {
    const flexicase::WithoutGil others_run;
    flexicase::Watch watch;
    code->item = translate(source->genes, max_points, code->arena, watch);
  }
  code->genome = std::move(source);
  return code;
}

nb::list items_of(const Stack& stack, ToPython& to_python) {
  to_python.count(static_cast<std::size_t>(stack.size) * sizeof(PyObject*));
  nb::list items;
  for (std::int64_t i = 0; i < stack.size; ++i) items.append(to_python(stack.top(i)));
  return items;
}

nb::dict state_of(const Machine& m, ToPython& to_python) {
  nb::dict state;
  for (int s = 0; s < kStacks; ++s) {
    if (m.stacks[s].size) state[kStackNames[s]] = items_of(m.stacks[s], to_python);
  }
  if (m.has_output) {
    nb::list output;
    output.append(push_values::text_to_python(m.output.data(), m.output.size()));
    state["output"] = output;
  }
  for (int i = 0; i < kSlots; ++i) {
    if (m.slots[i].kind == Kind::nil) continue;
    nb::list slot;
    slot.append(to_python(m.slots[i]));
    state[kSlotNames[i]] = slot;
  }
  if (!m.tags.empty()) {
    nb::list tags;
    for (const auto& [number, item] : m.tags) tags.append(nb::make_tuple(number, to_python(item)));
    state["tag"] = tags;
  }
  return state;
}

void load_output(Machine& m, nb::list items, Arena& arena) {
  if (items.size() == 0) return;
  const Item text = push_values::from_python(items[0], arena, {"output"});
  if (text.kind != Kind::string) throw nb::type_error("the output must be a str");
  m.output.assign(text.text, text.text + text.length);
  m.has_output = true;
}

constexpr Kind kElementKinds[] = {Kind::integer, Kind::real, Kind::boolean, Kind::string};

bool belongs(const Item& item, int stack) {
  constexpr Kind kinds[] = {Kind::integer, Kind::real, Kind::boolean, Kind::character, Kind::string};
  if (stack < kInteger) return true;
  if (stack < kVectorInteger) return item.kind == kinds[stack - kInteger];
  return item.kind == Kind::vector && (!item.length || item.items[0].kind == kElementKinds[stack - kVectorInteger]);
}

void load_stack(Machine& m, int stack, nb::list items, Arena& arena) {
  for (std::size_t i = items.size(); i-- > 0;) {
    const Item item = push_values::from_python(items[i], arena, {kStackNames[stack], static_cast<std::int64_t>(i)});
    if (!belongs(item, stack)) {
      const std::string expected = std::string("stack ") + kStackNames[stack] + " must have values of its own type";
      throw nb::type_error((expected + ", got another at position " + std::to_string(i)).c_str());
    }
    m.stacks[stack].push(item);
  }
}

void load(Machine& m, nb::dict state, Arena& arena) {
  for (auto [key, value] : state) {
    const auto name = nb::cast<std::string>(key);
    const auto items = nb::cast<nb::list>(value);
    const auto* found = std::find(std::begin(kStackNames), std::end(kStackNames), name);
    if (found != std::end(kStackNames)) {
      load_stack(m, static_cast<int>(found - kStackNames), items, arena);
    } else if (name == "input") {
      for (nb::handle item : items) m.inputs.push_back(push_values::from_python(item, arena, {"input"}));
    } else if (name == "output") {
      load_output(m, items, arena);
    } else if (const auto* slot = std::find(std::begin(kSlotNames), std::end(kSlotNames), name);
               slot != std::end(kSlotNames) && items.size() == 1) {
      m.slots[slot - kSlotNames] = push_values::from_python(items[0], arena, {kSlotNames[slot - kSlotNames]});
    } else if (name == "tag") {
      for (nb::handle entry : items) {
        m.tags.emplace_back(nb::cast<std::int64_t>(entry[0]), push_values::from_python(entry[1], arena, {"tag"}));
      }
      std::sort(m.tags.begin(), m.tags.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    } else {
      throw nb::value_error(("no stack is named " + name).c_str());
    }
  }
}

// What states of a run may take in Python.
std::size_t python_limit(const Limits& limits) {
  constexpr std::size_t kLeast = std::size_t{64} << 20, kMost = SIZE_MAX / 16;
  return kLeast + 8 * std::min(static_cast<std::size_t>(limits.memory), kMost);
}

nb::tuple finished(Machine& m, Status status, ToPython& to_python) {
  const nb::object error = push_values::error_to_python(std::exchange(m.failure, nullptr));
  return nb::make_tuple(state_of(m, to_python), kStatusNames[static_cast<int>(status)], m.steps, error);
}

// A machine for one call from Python, and room for what comes with it.
struct Call {
  explicit Call(const Limits& limits) : to_python(python_limit(limits)) { machine.reset(limits); }

  void give(nb::list inputs) {
    machine.has_output = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const push_values::Place place{"inputs", static_cast<std::int64_t>(i)};
      machine.inputs.push_back(push_values::from_python(inputs[i], arena, place));
    }
  }
  // Other Python threads go on meanwhile.
  Status run() {
    const flexicase::WithoutGil others_run;
    return machine.run();
  }

  const Lease lease;
  Machine& machine = *lease;
  Arena arena{1024};
  ToPython to_python;
};

nb::tuple run(const Code& program, nb::dict state, const Limits& limits) {
  Call call(limits);
  Status status = Status::stack_limit;
  try {
    load(call.machine, state, call.arena);
    call.machine.stacks[kExec].push(program.item);
    status = call.run();
  } catch (const LimitReached& reached) {
    status = reached.status;
  }
  return finished(call.machine, status, call.to_python);
}

nb::tuple run_on(const Code& program, nb::list inputs, const Limits& limits) {
  Call call(limits);
  call.give(inputs);
  if (limits.stack < 1) return finished(call.machine, Status::stack_limit, call.to_python);
  call.machine.stacks[kExec].push(program.item);
  const Status status = call.run();
  return finished(call.machine, status, call.to_python);
}

nb::tuple execute(const Code& item, nb::dict state, const Limits& limits) {
  Call call(limits);
  Status status = Status::normal;
  try {
    load(call.machine, state, call.arena);
    call.machine.steps = 1;
    call.machine.step(item.item);
  } catch (const LimitReached& reached) {
    status = reached.status;
  }
  return finished(call.machine, status, call.to_python);
}

// Lets other Python threads go on, and signals be handled, while much is converted.
class Turns {
 public:
  void offer() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(10)) return;
    {
      const flexicase::WithoutGil others_run;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    last_ = std::chrono::steady_clock::now();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The item that each step executes and the state after it, as of a run that goes no further.
nb::tuple trace(const Code& program, nb::list inputs, const Limits& limits) {
  Call call(limits);
  call.give(inputs);
  Machine& m = call.machine;
  nb::list steps;
  Stack& exec = m.stacks[kExec];
  if (limits.stack > 0) exec.push(program.item);
  Status status = limits.stack > 0 ? Status::normal : Status::stack_limit;
  Turns turns;
  while (exec.size && m.steps < limits.steps && status == Status::normal) {
    const Item item = exec.pop();
    ++m.steps;
    try {
      m.step(item);
    } catch (const LimitReached& reached) {
      status = reached.status;
    }
    steps.append(nb::make_tuple(call.to_python(item), finished(m, status, call.to_python)));
    turns.offer();
  }
  if (exec.size && status == Status::normal) status = Status::step_limit;
  return nb::make_tuple(steps, kStatusNames[static_cast<int>(status)]);
}

nb::object text(const Code& code) {
  std::vector<char16_t> written;
  write_readable(*Lease(), code.item, written, SIZE_MAX);
  return push_values::text_to_python(written.data(), written.size());
}

nb::list table() {
  nb::list rows;
  for (const Instruction& row : instructions()) {
    std::string profiles;
    if (row.profiles & kW) profiles += 'W';
    if (row.profiles & kM) profiles += 'M';
    if (row.profiles & kL) profiles += 'L';
    if (row.profiles & kP) profiles += 'P';
    rows.append(nb::make_tuple(row.name, row.stacks, row.blocks, profiles));
  }
  return rows;
}

}  // namespace

void bind_push(nb::module_& m) {
  nb::class_<Limits>(m, "PushLimits")
      .def(
          "__init__",
          [](Limits* self, std::int64_t steps, std::int64_t points, std::int64_t stack, std::int64_t memory,
             std::int64_t code, bool keep_nan,
             std::uint64_t seed) { new (self) Limits{steps, points, stack, memory, code, keep_nan, seed}; },
          "steps"_a, "points"_a, "stack"_a, "memory"_a, "code"_a, "keep_nan"_a, "seed"_a);
  nb::class_<Code>(m, "PushCode")
      .def("to_python", [](const Code& self) { return ToPython()(self.item); })
      .def("to_bytes",
           [](const Code& self) {
             const std::string bytes = to_bytes(self.item);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("text", &text)
      .def("points", [](const Code& self) { return points(self.item); });
  nb::class_<Genome>(m, "PushGenome").def("__len__", [](const Genome& self) { return self.genes.size(); });
  m.def("push_set_types", &push_values::set_types);
  m.def("push_code", &compile, "value"_a.none(), "name"_a = "code");
  m.def(
      "push_code_from_bytes", [](nb::bytes bytes) { return code_from_bytes({bytes.c_str(), bytes.size()}); },
      "bytes"_a);
  m.def("push_genome", &genome, "items"_a, "close"_a, "silent"_a);
  m.def("push_translate", &translate_genome, "genome"_a, "max_points"_a);
  m.def("push_run", &run, "program"_a, "state"_a, "limits"_a);
  m.def("push_run_on", &run_on, "program"_a, "inputs"_a, "limits"_a);
  m.def("push_execute", &execute, "item"_a, "state"_a, "limits"_a);
  m.def("push_trace", &trace, "program"_a, "inputs"_a, "limits"_a);
  m.def("push_table", &table);
}
