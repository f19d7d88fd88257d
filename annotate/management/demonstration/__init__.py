"""The demonstration project: three products and four systems, written for Concord."""
