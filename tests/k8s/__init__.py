"""`./dev k8s`: a real Kubernetes on this machine, and the rehearsal of the chart on it."""
