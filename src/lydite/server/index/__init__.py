"""Run folders, indexed: followed while they grow, asked by routes."""
