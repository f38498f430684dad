// The share of selection in symbolic regression: 1000 trees × 1000 rows, one thread, processor time.
//
// Trees are evaluated in blocks of rows that fit into vector registers, so that evaluation is fast. docs/cpp.md has the
// commands. Arguments: rows that trees are evaluated on, cases that selection reads (both drawn anew each generation),
// generations.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <flexicase/selector.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int trees = 1000, rows = 1000, variables = 5, most_nodes = 60, block = 64;
enum Kind : int { add, subtract, multiply, sine, constant, variable };
struct Node {
  Kind kind;
  float value;  // of a constant; the number of a variable
};
using Tree = std::vector<Node>;  // postfix
using Rng = std::mt19937_64;

int arity(const Node& node) { return node.kind <= multiply ? 2 : node.kind == sine ? 1 : 0; }

int below(Rng& rng, std::size_t n) { return std::uniform_int_distribution<int>(0, static_cast<int>(n) - 1)(rng); }

void grow(Rng& rng, int depth, Tree& out) {
  if (depth == 0 || below(rng, 5) == 0) {
    const bool leaf_is_constant = below(rng, 3) == 0;
    out.push_back(leaf_is_constant ? Node{constant, std::normal_distribution<float>()(rng)}
                                   : Node{variable, static_cast<float>(below(rng, variables))});
    return;
  }
  const Node node{static_cast<Kind>(below(rng, 4)), 0};
  for (int i = 0; i < arity(node); ++i) grow(rng, depth - 1, out);
  out.push_back(node);
}

Tree random_tree(Rng& rng, int depth) {
  Tree tree;
  grow(rng, depth, tree);
  return tree;
}

// Where the subtree that ends at a node begins.
int start_of(const Tree& tree, int end) {
  int at = end;
  for (int open = 1; open > 0; --at) open += arity(tree[at]) - 1;
  return at + 1;
}

// A copy of one tree with a subtree of another, or a random one, in place of one of its own.
Tree cross(Rng& rng, const Tree& mother, const Tree& father) {
  const Tree donor = below(rng, 4) == 0 ? random_tree(rng, 3) : father;
  const int to = below(rng, mother.size()), from = below(rng, donor.size());
  Tree child(mother.begin(), mother.begin() + start_of(mother, to));
  child.insert(child.end(), donor.begin() + start_of(donor, from), donor.begin() + from + 1);
  child.insert(child.end(), mother.begin() + to + 1, mother.end());
  return child.size() <= most_nodes ? child : mother;
}

// |prediction - target| on every row; infinite where it is not a number.
void evaluate(const Tree& tree, const std::vector<std::vector<float>>& columns, const float* target, int n,
              float* out) {
  static float stack[most_nodes + 1][block];
  for (int start = 0; start < n; start += block) {
    const int wide = std::min(block, n - start);
    int top = -1;
    for (const Node& node : tree) {
      if (node.kind == constant) {
        std::fill_n(stack[++top], block, node.value);
        continue;
      }
      if (node.kind == variable) {
        std::copy_n(columns[static_cast<std::size_t>(node.value)].data() + start, wide, stack[++top]);
        continue;
      }
      if (node.kind != sine) --top;
      float* a = stack[top];
      const float* b = stack[top + 1];
      if (node.kind == add)
        for (int i = 0; i < block; ++i) a[i] += b[i];
      if (node.kind == subtract)
        for (int i = 0; i < block; ++i) a[i] -= b[i];
      if (node.kind == multiply)
        for (int i = 0; i < block; ++i) a[i] *= b[i];
      if (node.kind == sine)
        for (int i = 0; i < block; ++i) a[i] = std::sin(a[i]);
    }
    for (int i = 0; i < wide; ++i) {
      const float error = std::abs(stack[0][i] - target[start + i]);
      out[start + i] = error <= std::numeric_limits<float>::max() ? error : std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int used = argc > 1 ? std::clamp(std::atoi(argv[1]), 1, rows) : rows;
  const int read = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, used) : used;
  const int generations = argc > 3 ? std::max(1, std::atoi(argv[3])) : 20;
  Rng rng(1);
  std::vector<std::vector<float>> data(variables + 1, std::vector<float>(rows)), sample = data;
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < variables; ++v) data[v][r] = std::uniform_real_distribution<float>(-2, 2)(rng);
    data[variables][r] = data[0][r] * data[1][r] + std::sin(3 * data[2][r]) + data[3][r] * data[3][r] * data[4][r];
  }
  std::vector<Tree> population;
  for (int i = 0; i < trees; ++i) population.push_back(random_tree(rng, 5));
  std::vector<float> errors(static_cast<std::size_t>(trees) * rows);
  std::vector<int> order(rows);
  std::iota(order.begin(), order.end(), 0);
  double seconds[3] = {};
  const auto timed = [&](int part, auto&& work) {
    const std::clock_t start = std::clock();
    work();
    seconds[part] += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (int generation = 0; generation < generations; ++generation) {
    std::shuffle(order.begin(), order.end(), rng);
    for (std::size_t v = 0; v < data.size(); ++v) {
      for (int i = 0; i < used; ++i) sample[v][i] = data[v][order[i]];
    }
    timed(0, [&] {
      for (int t = 0; t < trees; ++t)
        evaluate(population[t], sample, sample[variables].data(), used, &errors[t * used]);
    });
    std::vector<std::int64_t> parents;
    timed(1, [&] {
      auto view = flexicase::matrix_view(errors.data(), trees, used);
      view.cols = read;
      parents = flexicase::select(view, 2 * trees, flexicase::draw_key(rng), {.tolerance = flexicase::Tolerance::mad});
    });
    timed(2, [&] {
      std::vector<Tree> children;
      for (int i = 0; i < trees; ++i) {
        children.push_back(cross(rng, population[parents[2 * i]], population[parents[2 * i + 1]]));
      }
      population = std::move(children);
    });
  }
  double best = std::numeric_limits<double>::infinity();
  std::vector<float> row(rows);
  for (const Tree& tree : population) {
    evaluate(tree, data, data[variables].data(), rows, row.data());
    best = std::min(best, std::inner_product(row.begin(), row.end(), row.begin(), 0.0) / rows);
  }
  const double total = seconds[0] + seconds[1] + seconds[2];
  std::printf("per generation: evaluation %.1f ms, selection %.1f ms, variation %.1f ms; selection is %.0f %%; ",
              1e3 * seconds[0] / generations, 1e3 * seconds[1] / generations, 1e3 * seconds[2] / generations,
              100 * seconds[1] / total);
  std::printf("best mean squared error %.3f\n", best);
}
