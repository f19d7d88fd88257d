"""What every feature stands on: tables, access, guideline, errors."""
