"""Lydite's own API, below ``/v1/rlvr``, and the reward servers that other trainers ask."""
