"""The HTTP API, one module per group of addresses. Routes translate; what happens is the backend's."""
