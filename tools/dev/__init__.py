"""What ./dev does: builds the suite, runs it on this machine, tests and checks it."""
