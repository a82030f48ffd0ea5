#!/usr/bin/python3
"""Reads a pipe more slowly than a head unit records, and says how many bytes there were: slow-reader.py PIPE."""

import sys
import time

count = 0
with open(sys.argv[1], "rb", buffering=0) as pipe:
    while data := pipe.read(16384):
        count += len(data)
        time.sleep(0.01)
print(count)
