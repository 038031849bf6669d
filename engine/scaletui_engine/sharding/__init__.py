"""Who owns which slice: meshes, layouts of the frameworks, groups and the bytes that travel between ranks."""
