"""The package behind ./dev: it builds the suite, runs it on this machine, tests and checks it."""
