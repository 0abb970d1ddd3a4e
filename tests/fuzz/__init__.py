"""`./dev fuzz`: the libFuzzer programs beside this file."""
