"""A run on a Dask cluster."""
