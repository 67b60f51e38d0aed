"""Models that can be talked to, and the process that holds their weights."""
