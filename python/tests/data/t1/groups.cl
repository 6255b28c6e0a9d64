// standin: index is fill(out, global_x / local_x)
__kernel void index(__global int *out) { out[get_global_id(0)] = get_num_groups(0); }
