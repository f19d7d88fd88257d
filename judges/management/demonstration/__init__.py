"""The finished demonstration: twelve articles, six systems and two judges, all written for Concord."""
