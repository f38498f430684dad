#include "flexicase/baselines.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "flexicase/bits.hpp"
#include "flexicase/parallel.hpp"

namespace flexicase {

namespace {

constexpr std::int64_t worth_a_thread = 256;

std::uint64_t event_number(const Request& request, std::int64_t i) {
  return request.first_event + static_cast<std::uint64_t>(i) * request.event_step;
}

Stream stream_of(const Request& request, std::int64_t i, Lane lane) {
  return {lane_state(event_state(request.key, event_number(request, i)), lane)};
}

// Errors in their own type.
template <class T>
struct Table : MatrixView {
  explicit Table(const MatrixView& m) : MatrixView(m) {}
  T at(std::int64_t row, std::int64_t col) const {
    return static_cast<const T*>(data)[row * row_stride + col * col_stride];
  }
};

// The individuals that are best on each case, among one per distinct error vector.
struct Elites {
  std::vector<std::int64_t> members;  // positions in unique rows, case after case
  std::vector<std::int64_t> starts;   // (cases + 1,)
  std::vector<std::int64_t> won;      // (unique_rows,) on how many cases each is best
  std::vector<std::int64_t> rarest;   // (unique_rows,) the case with the fewest others among those
};

template <class T>
Elites find_elites(const Table<T>& errors, const std::int64_t* unique_rows, std::int64_t n_unique_rows, Watch& watch) {
  Elites elites;
  elites.starts.push_back(0);
  elites.won.assign(static_cast<std::size_t>(n_unique_rows), 0);
  elites.rarest.assign(static_cast<std::size_t>(n_unique_rows), -1);
  const auto size_of = [&](std::int64_t c) {
    return elites.starts[static_cast<std::size_t>(c) + 1] - elites.starts[static_cast<std::size_t>(c)];
  };
  for (std::int64_t c = 0; c < errors.cols; ++c) {
    watch.spend(8 * n_unique_rows);
    T best = errors.at(unique_rows[0], c);
    for (std::int64_t k = 1; k < n_unique_rows; ++k) best = std::min(best, errors.at(unique_rows[k], c));
    for (std::int64_t k = 0; k < n_unique_rows; ++k) {
      if (errors.at(unique_rows[k], c) == best) elites.members.push_back(k);
    }
    elites.starts.push_back(static_cast<std::int64_t>(elites.members.size()));
    for (auto m = static_cast<std::size_t>(elites.starts[static_cast<std::size_t>(c)]); m < elites.members.size();
         ++m) {
      const auto k = static_cast<std::size_t>(elites.members[m]);
      ++elites.won[k];
      if (elites.rarest[k] < 0 || size_of(c) < size_of(elites.rarest[k])) elites.rarest[k] = c;
    }
  }
  return elites;
}

template <class T>
bool nowhere_worse(const Table<T>& errors, std::int64_t a, std::int64_t b) {
  for (std::int64_t c = 0; c < errors.cols; ++c) {
    if (errors.at(a, c) > errors.at(b, c)) return false;
  }
  return true;
}

// Whether another error vector is nowhere worse; it would be best wherever this one is.
template <class T>
bool is_dominated(const Table<T>& errors, const std::int64_t* unique_rows, const Elites& elites, std::int64_t k,
                  Watch& watch) {
  const auto rival_case = static_cast<std::size_t>(elites.rarest[static_cast<std::size_t>(k)]);
  for (std::int64_t m = elites.starts[rival_case]; m < elites.starts[rival_case + 1]; ++m) {
    const std::int64_t rival = elites.members[static_cast<std::size_t>(m)];
    watch.spend(20 + errors.cols / 8);
    if (rival != k && nowhere_worse(errors, unique_rows[rival], unique_rows[k])) return true;
  }
  return false;
}

// The columns of a 0/1 matrix as sets of bits.
std::vector<std::uint64_t> pack_columns(const std::uint8_t* rows, std::int64_t n_rows, std::int64_t cols,
                                        std::int64_t words, Watch& watch) {
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(cols * words));
  for (std::int64_t r = 0; r < n_rows; ++r) {
    watch.spend(2 * cols);
    for (std::int64_t c = 0; c < cols; ++c) {
      if (rows[r * cols + c] != 0) bits[static_cast<std::size_t>(c * words + r / 64)] |= std::uint64_t{1} << (r % 64);
    }
  }
  return bits;
}

}  // namespace

void batch_sums(const MatrixView& errors, const std::int64_t* cases, const std::int64_t* starts, std::int64_t batches,
                double* sums) {
  Watch watch;
  with_type(errors.type, [&]<class T>(T) {
    const Table<T> table(errors);
    for (std::int64_t r = 0; r < errors.rows; ++r) {
      for (std::int64_t b = 0; b < batches; ++b) {
        watch.spend(10 + 2 * (starts[b + 1] - starts[b]));
        double sum = 0.0;
        for (std::int64_t k = starts[b]; k < starts[b + 1]; ++k) sum += static_cast<double>(table.at(r, cases[k]));
        sums[b * errors.rows + r] = sum == sum ? sum : std::numeric_limits<double>::infinity();
      }
    }
  });
}

void draw_tournaments(const TournamentPlan& plan, const Request& request, std::int64_t n, int threads) {
  in_parallel(n, worth_a_thread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    for (std::int64_t i = begin; i < end; ++i) {
      Stream stream = stream_of(request, i, Lane::baseline);
      const std::uint64_t judge = event_number(request, i) % static_cast<std::uint64_t>(plan.judges);
      const double* scores = plan.scores + static_cast<std::int64_t>(judge) * plan.individuals;
      const auto draw = [&] {
        return static_cast<std::int64_t>(stream.bounded(static_cast<std::uint64_t>(plan.individuals)));
      };
      std::int64_t winner = draw();
      for (std::int64_t k = 1; k < plan.size; ++k) {
        const std::int64_t entrant = draw();
        watch.spend(8);
        if (scores[entrant] < scores[winner]) winner = entrant;
      }
      request.indices[i] = winner;
      watch.spend(50);
    }
  });
}

void draw_wheel(const double* wheel, std::int64_t individuals, const Request& request, std::int64_t n, int threads) {
  in_parallel(n, worth_a_thread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double spin = stream_of(request, i, Lane::baseline).unit() * wheel[individuals - 1];
      // The last one if the wheel holds NaN, as it may if the caller changed the errors while it was made.
      request.indices[i] = std::upper_bound(wheel, wheel + individuals - 1, spin) - wheel;
      watch.spend(100);
    }
  });
}

void elite_shares(const MatrixView& errors, const std::int64_t* unique_rows, std::int64_t n_unique_rows,
                  double* shares) {
  Watch watch;
  Elites elites;
  std::vector<std::uint8_t> eligible(static_cast<std::size_t>(n_unique_rows));
  with_type(errors.type, [&]<class T>(T) {
    const Table<T> table(errors);
    elites = find_elites(table, unique_rows, n_unique_rows, watch);
    for (std::int64_t k = 0; k < n_unique_rows; ++k) {
      const auto at = static_cast<std::size_t>(k);
      eligible[at] = elites.won[at] > 0 && !is_dominated(table, unique_rows, elites, k, watch);
      shares[k] = 0.0;
    }
  });
  for (std::size_t c = 0; c + 1 < elites.starts.size(); ++c) {
    const auto begin = elites.members.begin() + elites.starts[c];
    const auto end = elites.members.begin() + elites.starts[c + 1];
    std::int64_t total = 0;
    watch.spend(4 * (end - begin));
    for (auto m = begin; m != end; ++m) {
      if (eligible[static_cast<std::size_t>(*m)]) total += elites.won[static_cast<std::size_t>(*m)];
    }
    for (auto m = begin; m != end; ++m) {
      const auto k = static_cast<std::size_t>(*m);
      if (eligible[k]) shares[k] += static_cast<double>(elites.won[k]) / static_cast<double>(total);
    }
  }
}

void farthest_first(const std::uint8_t* solved, std::int64_t parents, std::int64_t cases, Stream stream,
                    std::int64_t size, std::int64_t* chosen) {
  Watch watch;
  const std::int64_t words = (parents + 63) / 64;
  const std::vector<std::uint64_t> bits = pack_columns(solved, parents, cases, words, watch);
  constexpr std::int64_t taken = -1;
  std::vector<std::int64_t> distance(static_cast<std::size_t>(cases), parents);
  std::vector<std::int64_t> tied;
  for (std::int64_t s = 0; s < size; ++s) {
    watch.spend(cases * (4 + words));
    const std::int64_t farthest = *std::max_element(distance.begin(), distance.end());
    tied.clear();
    for (std::int64_t c = 0; c < cases; ++c) {
      if (distance[static_cast<std::size_t>(c)] == farthest) tied.push_back(c);
    }
    const std::int64_t next = tied[stream.bounded(tied.size())];
    chosen[s] = next;
    const std::uint64_t* mine = bits.data() + next * words;
    for (std::int64_t c = 0; c < cases; ++c) {
      std::int64_t apart = 0;
      for (std::int64_t w = 0; w < words; ++w)
        apart += count_ones(mine[w] ^ bits[static_cast<std::size_t>(c * words + w)]);
      std::int64_t& nearest = distance[static_cast<std::size_t>(c)];
      nearest = std::min(nearest, apart);
    }
    distance[static_cast<std::size_t>(next)] = taken;
  }
}

}  // namespace flexicase
