#!/bin/bash
# Runs in a copy of the working directory after the episode, with all of this folder at /tests. Its reward counts, not
# its exit code: reward.txt holds a number from 0 to 1, reward.json several by name ("reward" counts, else the least).
if python3 /tests/check.py; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
