"""Stories in a real browser; a package, so that its browser closes before other tests begin."""
