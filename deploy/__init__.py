"""What an operator installs, and the program that writes it."""
