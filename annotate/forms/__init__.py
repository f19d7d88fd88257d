"""Input turned into typed values; forms validate and never write."""
