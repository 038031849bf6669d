"""Sample layout, ring reader and sources: the engine's one room that reads files; time is passed in."""
