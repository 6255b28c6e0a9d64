kernel void polynomial(global const float *input, global float *output, float4 factors) {
    float x = input[get_global_id(0)];
    output[get_global_id(0)] = factors.x + x * (factors.y + x * (factors.z + x * factors.w));
}
