"""The steps of the rehearsal, by what they are about."""

NAMES = [
    "dry-run",
    "install",
    "test",
    "upgrade",
    "rollback",
    "failing-migration",
    "roll",
    "scale",
    "cpu",
    "lag",
    "drain",
    "secrets",
    "trace",
    "kill",
    "memory",
    "postgres",
    "broker",
    "alerts",
    "judge",
    "uninstall",
]
