"""Documents, systems and items, and importing them."""
