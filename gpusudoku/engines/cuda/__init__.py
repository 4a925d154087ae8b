"""The CUDA engine: one worker thread of the host for every GPU."""
