/* Reads devices and sizes, a line each, and prints what the header chooses. */
#include "scale.h"
#include <stdlib.h>

int main(void) {
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        struct device d;
        scale_choice c;
        nd_range r;
        char *field[8], *rest = line;
        int i;
        for (i = 0; i < 8; i++) {
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
        d.major = (cl_uint)atoi(field[4]);
        strcpy(d.platform, field[5]);
        if (scale_choose(&d, atoll(field[6]), atoll(field[7]), 3, &c)) {
            printf("no size\n");
        } else if (scale_ndrange(&c, &r)) {
            printf("%d %d %s no launch\n", c.level, c.same_driver, c.options);
        } else {
            printf("%d %d %s global %d,%d local %d,%d\n", c.level, c.same_driver, c.options, (int)r.global[0], (int)r.global[1], (int)r.local[0], (int)r.local[1]);
        }
    }
    fputs(scale_source[0], stdout);
    return scale_lines != 2;
}
