# Our own kernels and the limit arms.
