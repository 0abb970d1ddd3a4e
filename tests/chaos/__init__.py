"""`./dev chaos`: breaking a suite of its own under load."""
