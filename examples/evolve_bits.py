"""A complete evolutionary loop around `flexicase.select`: find the bits that every case wants."""

import numpy as np

import flexicase as fx

BITS, CASES, POPULATION = 64, 32, 200


def main() -> None:
    """Evolve until every case is solved; case i wants its own few bits of the genome set right."""
    rng = np.random.default_rng(5)
    wanted = rng.random(BITS) < 0.5
    cares = rng.random((CASES, BITS)) < 0.15
    population = rng.random((POPULATION, BITS)) < 0.5
    for generation in range(200):
        errors = ((population != wanted)[:, None, :] & cares).sum(axis=2)
        best = int((errors == 0).sum(axis=1).max())
        if best == CASES:
            print(f"solved all {CASES} cases in generation {generation}")
            return
        if generation % 5 == 0:
            print(f"generation {generation:3}: the best genome solves {best} of {CASES} cases")
        s = fx.select(errors, 2 * POPULATION, "ranked-num-nonzeros", seed=generation)
        mothers, fathers = population[s.indices].reshape(2, POPULATION, BITS)
        children = np.where(rng.random((POPULATION, BITS)) < 0.5, mothers, fathers)
        population = children ^ (rng.random((POPULATION, BITS)) < 0.5 / BITS)
    raise SystemExit("not solved in 200 generations")


if __name__ == "__main__":
    main()
