"""The total is the sum of the orders, which are as they were."""

from pathlib import Path

ORDERS = "name,amount\nbob,10\nada,5\nbob,27\n"

assert Path("/app/data/orders.csv").read_text() == ORDERS
assert Path("/app/total.txt").read_text().strip() == "42"
