/* Reads devices and sizes, a line each, and prints what the header chooses. */
#include "scale.h"
#include <stdlib.h>

int main(void) {
    char line[1024];
    cl_uint i;
    while (fgets(line, sizeof line, stdin)) {
        struct device d;
        scale_choice c;
        nd_range r;
        char *field[17], *rest = line;
        for (i = 0; i < 17; i++) {
            size_t n = strcspn(rest, "\t\n");
            field[i] = rest;
            rest += n + (rest[n] != 0);
            field[i][n] = 0;
        }
        memset(&d, 0, sizeof d);
        strcpy(d.name, field[0]);
        strcpy(d.vendor, field[1]);
        strcpy(d.driver, field[2]);
        d.type = (cl_device_type)atoi(field[3]);
        strcpy(d.platform, field[4]);
        strcpy(d.extension, field[5]);
        strcpy(d.board, field[6]);
        d.major = (cl_uint)atoi(field[7]);
        d.minor = (cl_uint)atoi(field[8]);
        d.version = (cl_uint)atoi(field[9]);
        if (scale_choose(&d, atoll(field[13]), atoll(field[14]), 3, atoll(field[15]), atoll(field[16]), &c)) {
            printf("no size\n");
            continue;
        }
        printf("%d %d %g %s ", c.level, c.same_driver, c.record->time, c.options);
        if (scale_ndrange(&c, &r)) {
            printf("no launch\n");
        } else {
            printf("global [%d, %d] local [%d, %d] offset [%d, %d]\n", (int)r.global[0], (int)r.global[1], (int)r.local[0], (int)r.local[1], (int)r.offset[0], (int)r.offset[1]);
        }
    }
    for (i = 0; i < scale_lines; i++) fputs(scale_source[i], stdout);
    return 0;
}
