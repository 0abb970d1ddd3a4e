"""Programs that write files of the tree, or of the build, from what is described elsewhere."""
