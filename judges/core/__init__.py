"""What every feature of judges stands on: tables, access, errors."""
