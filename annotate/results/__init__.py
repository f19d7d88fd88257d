"""Figures about people's ratings, and the papers that can be reproduced."""
