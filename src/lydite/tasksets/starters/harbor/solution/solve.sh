#!/bin/bash
awk -F, 'NR > 1 { sum += $2 } END { print sum }' /app/data/orders.csv > /app/total.txt
