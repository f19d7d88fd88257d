"""One file with all that an installation holds: database, uploads, exports and, encrypted, its secrets."""
