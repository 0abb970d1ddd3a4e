"""The parts that benches share: peers to compare with, what processes use, clients that load."""
