"""The embedded pool: weights fetched once, a llama.cpp runtime in this process, and two tool workers."""
