__kernel void gemm() {}
