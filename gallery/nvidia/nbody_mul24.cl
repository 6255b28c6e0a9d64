// mul24 of integers of any type: OpenCL C has it for int and uint alone, and oclNbodyKernel.cl passes size_t.
#undef mul24
#define mul24(a, b) ((uint)(a) * (uint)(b))
