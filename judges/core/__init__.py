"""What every feature of judges builds on: tables, access, errors."""
