"""Recording the calls of other libraries, each in a module that is named like the library."""
