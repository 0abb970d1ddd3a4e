"""Reads docs/events/asyncapi.yaml, and makes of it the gateway's page and the tables of docs/events."""
