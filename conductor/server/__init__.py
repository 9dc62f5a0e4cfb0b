"""The backend's HTTP API: routes, streams, and who may use them."""
