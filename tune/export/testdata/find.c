/* Looks the program with the key argv[1] up in the files whose paths are the lines of stdin, and prints its bytes. */
#include "scale.h"

int main(int argc, char **argv) {
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        size_t n = 0, i;
        unsigned char *data;
        path[strcspn(path, "\n")] = 0;
        data = nd_find_binary(path, argv[argc - 1], &n);
        for (i = 0; data != NULL && i < n; i++) printf("%02x", data[i]);
        printf(data == NULL ? "none\n" : "\n");
        free(data);
    }
    return 0;
}
