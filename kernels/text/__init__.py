"""Reading and writing many boards as text: loops over bytes, compiled for the CPU."""
