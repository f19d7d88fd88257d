"""What an operator installs, and what makes a release."""
