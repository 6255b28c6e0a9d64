/* Looks the program for a device and options up in the files whose paths are the lines of stdin, and prints its bytes. */
#include "scale.h"

int main(void) {
    char path[4096], key[ND_BINARY_LINE];
    struct device d;
    scale_choice choice;
    memset(&d, 0, sizeof d);
    strcpy(d.name, "gfx90a");
    strcpy(d.extension, "amd");
    strcpy(d.board, "AMD Instinct");
    strcpy(d.vendor, "AMD");
    strcpy(d.platform, "Platform");
    strcpy(d.driver, "1.0");
    strcpy(choice.options, "-D n=4096");
    if (scale_program_key(&d, &choice, key) != 0) return 1;
    while (fgets(path, sizeof path, stdin)) {
        size_t n = 0, i;
        unsigned char *data;
        path[strcspn(path, "\n")] = 0;
        data = nd_find_binary(path, key, &n);
        for (i = 0; data != NULL && i < n; i++) printf("%02x", data[i]);
        printf(data == NULL ? "none\n" : "\n");
        free(data);
    }
    return 0;
}
