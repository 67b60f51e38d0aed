"""What runs on the inner side of the boundary: the keeper, the zygotes and the trusted part of every job.

Standard library only, relative imports only, no import of the rest of Lydite: a fresh interpreter that can import
nothing else loads this package under the name ``jail``.
"""
