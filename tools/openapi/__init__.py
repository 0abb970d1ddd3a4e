"""Makes what the gateway serves of docs/openapi.yaml: JSON for programs and a page for people."""
