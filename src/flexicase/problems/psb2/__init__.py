"""The second Program Synthesis Benchmark Suite (Helmuth and Kelly, GECCO 2021): one module per problem."""
