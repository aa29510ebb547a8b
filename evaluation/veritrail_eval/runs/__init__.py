"""Running a matrix of data sets and methods, with outcomes that are kept one by one."""
