"""Reads docs/events/asyncapi.yaml; makes the gateway's page and the tables of docs/events."""
