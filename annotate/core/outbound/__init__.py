"""Connections to hosts that users enter: allowed hosts, and allowed variables for each host."""
