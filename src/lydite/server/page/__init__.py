"""The page: server-rendered views of runs, for people."""
