// Owns the precompiled header; has no code.
