"""The CUDA engine: a worker thread of the host for every GPU."""
