/* Computes cases: see the type language in foreign.go. The rules are above. */
static char *launched;
static size_t launched_bytes;
static void launched_add(const char *format, long long v) {
    launched = (char *)realloc(launched, launched_bytes + 64);
    if (launched == NULL) abort();
    launched_bytes += (size_t)snprintf(launched + launched_bytes, 64, format, v);
}
static void launched_list(const size_t *list, int dimensions) {
    int i;
    launched_add("[", 0);
    for (i = 0; i < dimensions; i++) launched_add(i > 0 ? " %lld" : "%lld", (long long)list[i]);
    launched_add("] ", 0);
}
static int add_launch(void *data, const nd_kernel_launch *l) {
    const nd_range *r = &l->range;
    const char *c;
    int i;
    size_t k;
    (void)data;
    launched_add("%lld", l->kernel);
    for (c = l->name; *c != 0; c++) launched_add("%c", *c);
    launched_list(r->global, r->dimensions);
    launched_list(r->local, r->local[0] != 0 ? r->dimensions : 0);
    launched_list(r->offset, r->offset[0] || r->offset[1] || r->offset[2] ? r->dimensions : 0);
    for (i = 0; i < l->count; i++) {
        const nd_argument *a = &l->arguments[i];
        for (c = a->name; *c != 0; c++) launched_add("%c", *c);
        if (a->buffer >= 0 && a->bytes != sizeof(cl_mem)) return -1;
        if (a->buffer >= 0) launched_add("=%lld ", *(const char *const *)a->value - (const char *)0);
        else if (a->value == NULL) launched_add("=%lld bytes ", (long long)a->bytes);
        else {
            launched_add("=x", 0);
            for (k = 0; k < a->bytes; k++) launched_add("%02llx", ((const unsigned char *)a->value)[k]);
            launched_add(" ", 0);
        }
    }
    launched_add("; ", 0);
    return 0;
}
static void print_launches(const cl_mem *buffers, int count, int status) {
    int i;
    if (status != 0) for (i = 0; i < count; i++) if (buffers[i] != (cl_mem)(size_t)i) puts("the buffers have changed");
    if (status != 0 && launched_bytes > 0) puts("a launch was made");
    launched_add("", 0);
    for (i = 0; i < count; i++) launched_add("%lld ", (const char *)buffers[i] - (const char *)0);
    if (status != 0) puts("!");
    else puts(launched);
    launched_bytes = 0;
}
static void print_list(const size_t *list, int dimensions) {
    int i;
    for (i = 0; i < dimensions; i++) printf("%s%llu", i > 0 ? " " : "[", (unsigned long long)list[i]);
    printf(dimensions > 0 ? "]" : "[]");
}

static void print_range(const nd_rules *rules, const nd_value *names) {
    nd_range r;
    if (nd_ndrange(rules, rules->steps, names, &r)) {
        puts("!");
        return;
    }
    print_list(r.global, r.dimensions);
    putchar(' ');
    print_list(r.local, r.local[0] != 0 ? r.dimensions : 0);
    putchar(' ');
    print_list(r.offset, r.offset[0] || r.offset[1] || r.offset[2] ? r.dimensions : 0);
    putchar('\n');
}

static void print_value(char how, nd_value v) {
    uint64_t w;
    memcpy(&w, &v.f, sizeof w);
    if (v.failed) puts("!");
    else if (how == 'i') printf("%" PRId64 "\n", v.i);
    else if (how == 'b') puts(v.i ? "true" : "false");
    else if (how == 't') puts(v.text);
    else if (v.f != v.f) puts("nan");
    else printf("%016" PRIx64 "\n", w);
}

static void compute(const nd_rules *rules, char how, nd_value *names) {
    cl_mem buffers[64], held[64];
    nd_argument arguments[64];
    unsigned char scalars[4096];
    size_t bytes[64];
    int i;
    switch (how) {
    case 'r': print_range(rules, names); break;
    case 'l':
        for (i = 0; i < rules->buffers_count; i++) buffers[i] = (cl_mem)(size_t)i;
        print_launches(buffers, rules->buffers_count, nd_launches(rules, names, held, arguments, scalars, buffers, add_launch, NULL));
        break;
    case 's':
        if (nd_buffers_bytes(rules, names, bytes)) {
            puts("!");
            break;
        }
        print_list(bytes, rules->buffers_count);
        putchar('\n');
        break;
    default: print_value(how, nd_evaluate(rules, 0, names));
    }
}

int main(void) {
    nd_value names[64];
    int number, count, i;
    char how, kind;
    while (scanf("%d %c %d", &number, &how, &count) == 3) {
        memset(names, 0, sizeof names);
        for (i = 0; i < count; i++) {
            if (scanf(" %c%" SCNd64, &kind, &names[i].i) != 2) return 1;
            memcpy(&names[i].f, &names[i].i, sizeof names[i].f);
            if (kind == 't') names[i].text = texts[names[i].i];
        }
        compute(cases[number], how, names);
    }
    return 0;
}
