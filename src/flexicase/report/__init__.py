"""Tables, tests and figures of finished studies."""
