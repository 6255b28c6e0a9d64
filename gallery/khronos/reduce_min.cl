// The operations that reduce.cl leaves to the program that builds it, and the first element as an output of its own.
int op(int a, int b) { return min(a, b); }

#ifdef USE_WORK_GROUP_REDUCE
int work_group_reduce_op(int value) { return work_group_reduce_min(value); }
#endif

#ifdef USE_SUB_GROUP_REDUCE
int sub_group_reduce_op(int value) { return sub_group_reduce_min(value); }
#endif

__kernel void take(__global int *result, __global const int *from) { result[0] = from[0]; }
