"""The finished demonstration: twelve articles, six systems and two judges, all of it written for Concord."""
