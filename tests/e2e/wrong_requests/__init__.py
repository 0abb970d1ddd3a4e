"""A table of wrong requests, a module for each kind of wrong; test_wrong_requests.py sends them."""
