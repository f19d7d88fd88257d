"""One file with all data of an installation: database, uploads, exports and, encrypted, its secrets."""
