#include "standin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void lock(void) { pthread_mutex_lock(&mutex); }
void unlock(void) { pthread_mutex_unlock(&mutex); }

// The handles that are in use. A handle that was released is found in no bucket, whatever lies in its memory now.
enum { BUCKETS = 4096 };
typedef struct Handle Handle;
struct Handle {
	Object *object;
	Handle *next;
};
static Handle *buckets[BUCKETS];

static Handle **bucket(const void *object) { return &buckets[((uintptr_t)object >> 4) * 2654435761u % BUCKETS]; }

// A Report is a file in the folder STANDIN_REPORT, named after the process, that outlives it: Go programs end without
// the handlers of C.
typedef struct {
	uint64_t live[KINDS]; // objects whose owner has not released them
	uint64_t misuses;
	char last[112]; // misuse
} Report;

static Report *report(void) {
	static Report none, *found;
	const char *folder = getenv("STANDIN_REPORT");
	if (!found && folder) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
		int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (file < 0 || ftruncate(file, sizeof *found) != 0 ||
			(found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED)
			abort();
		close(file);
	}
	return found ? found : (found = &none);
}

static const char *names[] = {"context", "queue", "memory", "program", "kernel", "event"};

static void misused(const void *handle, Kind kind, const char *how) {
	report()->misuses++;
	snprintf(report()->last, sizeof report()->last, "%p %s a %s", handle, how, names[kind]);
}

void *create(Kind kind, size_t size, void *needs) {
	Object *o = calloc(1, size);
	Handle *h = malloc(sizeof *h), **b = bucket(o);
	o->kind = kind, o->users = 1, o->needs = needs;
	lock();
	if (needs)
		((Object *)needs)->users++;
	*h = (Handle){o, *b};
	*b = h;
	report()->live[kind]++;
	unlock();
	return o;
}

static Handle **find(const void *handle, Kind kind) {
	for (Handle **h = bucket(handle); *h; h = &(*h)->next)
		if ((*h)->object == handle && (*h)->object->kind == kind)
			return h;
	return NULL;
}

bool live(const void *handle, Kind kind) {
	lock();
	bool found = find(handle, kind) != NULL;
	if (!found && handle)
		misused(handle, kind, "is used as");
	unlock();
	return found;
}

int release(void *handle, Kind kind, int status) {
	lock();
	Handle **at = find(handle, kind), *h = at ? *at : NULL;
	if (h) {
		*at = h->next;
		report()->live[kind]--;
	} else {
		misused(handle, kind, "is released as");
	}
	unlock();
	if (!h)
		return status;
	free(h);
	drop(handle);
	return SUCCESS;
}

void drop(Object *o) {
	lock();
	bool last = --o->users == 0;
	unlock();
	if (!last)
		return;
	destroy(o);
	if (o->needs)
		drop(o->needs);
	free(o);
}
