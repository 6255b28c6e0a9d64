/* Reads sizes, a line each, and prints the launches of the header. */
#include "sort.h"
#include <stdlib.h>

static char text[1 << 16];

static int launch(void *data, const nd_kernel_launch *l) {
    int i;
    size_t k;
    char *at = text + strlen(text);
    at += sprintf(at, "%s %d %d", sort_kernels[l->kernel], (int)l->range.global[0], (int)l->range.local[0]);
    for (i = 0; i < l->count; i++) {
        const nd_argument *a = &l->arguments[i];
        if (a->buffer >= 0) {
            at += sprintf(at, " %s", *(const char *const *)a->value);
        } else if (a->value == NULL) {
            at += sprintf(at, " %d", (int)a->bytes);
        } else {
            at += sprintf(at, " ");
            for (k = 0; k < a->bytes; k++) at += sprintf(at, "%02x", ((const unsigned char *)a->value)[k]);
        }
    }
    sprintf(at, "; ");
    return --*(int *)data == 0 ? -7 : 0;
}

int main(void) {
    long long n, steps, most;
    while (scanf("%lld %lld %lld", &n, &steps, &most) == 3) {
        struct device d;
        sort_choice c;
        size_t bytes[sort_buffers_count];
        cl_mem buffers[sort_buffers_count];
        int i, status, left = (int)most;
        memset(&d, 0, sizeof d);
        for (i = 0; sort_buffers[i] != NULL; i++) buffers[i] = (cl_mem)sort_buffers[i];
        if (sort_choose(&d, n, steps, &c)) {
            printf("no size\n");
            continue;
        }
        status = sort_launches(&c, buffers, launch, &left);
        if (status == 1 || sort_buffers_bytes(&c, bytes) != 0) printf("fails\n");
        else printf("%s%d %s %d %d %d\n", text, status, (const char *)buffers[sort_buffer_keys], (int)bytes[0], (int)bytes[sort_buffer_count], (int)bytes[2]);
        text[0] = 0;
    }
    return sort_kernels_count != 3;
}
