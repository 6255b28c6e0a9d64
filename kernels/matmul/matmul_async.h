// Copies from global to local memory that do not pass through registers, with cp.async of
// PTX (NVIDIA, from compute capability 8.0).
//
//   copy_async(bytes, to, from, there)  4, 8 or 16 bytes, aligned to as many, of which the
//                                       first `there` are read and the others zero
//   close_group()                       what was copied since the last one is a group
//   wait_for(groups)                    until no more than so many are on their way; a
//                                       barrier then makes them seen by all

#ifndef copy_async
#define copy_async(bytes, to, from, there) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" \
                 :: "r"((uint)(size_t)(to)), "l"((ulong)(from)), "n"(bytes), "r"((int)(there)) : "memory")
#define close_group() asm volatile("cp.async.commit_group;" ::: "memory")
#define wait_for(groups) asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory")
#endif
