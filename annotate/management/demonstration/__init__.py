"""The demonstration project: three products, four systems, all of it written for Concord."""
