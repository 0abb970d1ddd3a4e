#!/bin/sh
cd "$(dirname "$0")"
PYTHONPATH=build exec build/venv/bin/python consumer.py
