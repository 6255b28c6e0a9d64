/* Prints what the header of a kernel in CUDA C chooses for two devices, and its launch. */
#include "add.h"

static int launch(void *data, const nd_kernel_launch *l) {
    int i;
    (void)data;
    printf("%s <<<%u %u %u, %u %u %u>>>", l->name, ND_GRID(l->range), ND_BLOCK(l->range));
    for (i = 0; i < l->count; i++) {
        if (l->arguments[i].value == NULL) printf(" shared %u", (unsigned)l->arguments[i].bytes);
        else if (l->arguments[i].buffer >= 0) printf(" %llu", *(const CUdeviceptr *)l->arguments[i].value);
        else printf(" %d", *(const int *)l->arguments[i].value);
    }
    printf("\n");
    return 0;
}

int main(void) {
    int device, i;
    for (device = 0; device < 2; device++) {
        CUdeviceptr buffers[add_buffers_count];
        const char *words[9];
        size_t bytes[add_buffers_count];
        add_choice choice;
        nd_range range;
        int count;
        buffers[add_buffer_out] = 70;
        if (add_choose(device, 1000, &choice) || add_ndrange(&choice, &range) || add_buffers_bytes(&choice, bytes)) return 1;
        printf("%d %d %s %u %u\n", choice.level, choice.same_driver, choice.record->kernel, (unsigned)bytes[add_buffer_out], (unsigned)range.global[0]);
        count = add_words(&choice, words, 9);
        for (i = 0; i < count; i++) printf("[%s]", words[i]);
        printf("\n");
        if (add_launches(&choice, buffers, launch, NULL)) return 1;
    }
    printf("%s", add_source);
    return 0;
}
