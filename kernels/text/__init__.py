"""Plain boards in bulk: read by the million, without an object for each."""
