"""What every feature builds on: tables, access, guideline, errors."""
