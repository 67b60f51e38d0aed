"""``sql``: a candidate's query against a reference query, on one or more databases.

Covered: queries that write, attach, read settings or files, call functions with effects or of chance; several
statements; unbounded time, memory and results; results of another number of rows or columns, of other types, in another
order; literal answers. Not covered: a query that is wrong, and yet right on every database of the configuration: give
several that differ.

``query`` finds the query in a completion; ``sqlite`` and ``duck`` are the engines; ``prepare`` computes what is
expected; ``compare`` holds a result against it; ``worker`` runs all that at the side; ``verifier`` makes verdicts.
"""
