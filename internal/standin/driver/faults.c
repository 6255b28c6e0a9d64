#include "standin.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

uint64_t hash_of(uint64_t seed, const void *data, size_t size) { // FNV-1a
	uint64_t h = seed ^ 0xcbf29ce484222325u;
	for (const unsigned char *p = data; size > 0; p++, size--)
		h = (h ^ *p) * 0x100000001b3u;
	return h;
}

// cut removes a word such as " first 3" and what follows it, and returns its number, or 0.
static int cut(char *text, const char *word) {
	char *at = strstr(text, word);
	if (!at || strchr(at, '"'))
		return 0;
	*at = 0;
	return atoi(at + strlen(word));
}

static bool trimmed(char *to, size_t room, const char *from, size_t n) {
	while (n > 0 && isspace((unsigned char)*from))
		from++, n--;
	while (n > 0 && isspace((unsigned char)from[n - 1]))
		n--;
	snprintf(to, room, "%.*s", (int)n, from);
	return n < room;
}

static bool parse(Statement *s, char *text) {
	memset(s, 0, sizeof *s);
	s->key = hash_of(1, text, strlen(text));
	s->first = cut(text, " first ");
	s->after = cut(text, " after ");
	s->one_in = cut(text, " one in ");
	char *quote = strrchr(text, '"'), *when = strstr(quote ? quote : text, " when ");
	if (when && !trimmed(s->when, sizeof s->when, when + 6, strlen(when + 6)))
		return false;
	if (when)
		*when = 0;
	size_t subject = strcspn(text, " "), verb = subject + strspn(text + subject, " "), end = verb + strcspn(text + verb, " ");
	static const char verbs[] = " is takes uses allows fails hangs crashes traps spoils prints complains waits logs errs overflows loses refuses clock has ";
	char padded[20];
	if (!trimmed(s->subject, sizeof s->subject, text, subject) || !trimmed(s->verb, sizeof s->verb, text + verb, end - verb) ||
		!trimmed(s->rest, sizeof s->rest, text + end, strlen(text + end)))
		return false;
	snprintf(padded, sizeof padded, " %s ", s->verb);
	return strstr(verbs, padded) != NULL;
}

const char *add_statements(Statements *to, const char *text) {
	static char wrong[256];
	while (*text) {
		size_t n = 0;
		for (bool quoted = false; text[n] && (quoted || text[n] != ';'); n++)
			quoted ^= text[n] == '"';
		char one[640];
		bool fits = trimmed(one, sizeof one, text, n);
		text += n + (text[n] == ';');
		if (!one[0])
			continue;
		to->list = realloc(to->list, (size_t)(to->n + 1) * sizeof *to->list);
		snprintf(wrong, sizeof wrong, "%.200s", one);
		if (!fits || !parse(&to->list[to->n], one))
			return wrong;
		to->n++;
	}
	return NULL;
}

// counted returns how often a statement was counted before, in all processes that share the folder STANDIN_STATE; without one,
// in this process.
static int counted(const Statement *s) {
	static struct { uint64_t key; int n; } own[256];
	const char *folder = getenv("STANDIN_STATE");
	if (!folder) {
		lock();
		unsigned i = s->key % 256;
		while (own[i].key && own[i].key != s->key)
			i = (i + 1) % 256;
		own[i].key = s->key;
		int n = own[i].n++;
		unlock();
		return n;
	}
	char path[4096];
	snprintf(path, sizeof path, "%s/%016llx", folder, (unsigned long long)s->key);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), n = 0;
	if (file < 0 || flock(file, LOCK_EX) != 0 || pread(file, &n, sizeof n, 0) < 0 || pwrite(file, &(int){n + 1}, sizeof n, 0) < 0) {
		perror("standin: STANDIN_STATE");
		abort();
	}
	close(file);
	return n;
}

const Statement *next_statement(const Statements *all, int *at, const char *subject, const char *verb, const Scope *scope, char message[160], int *count) {
	message[0] = 0;
	while (*at < all->n) {
		const Statement *s = &all->list[(*at)++];
		bool about = strcmp(s->subject, subject) == 0 || (strcmp(s->subject, "all") == 0 && strcmp(subject, "build") != 0 && strcmp(subject, "device") != 0);
		double applies = 1;
		if (strcmp(s->verb, verb) != 0 || !about)
			continue;
		if (s->when[0] && !evaluate(s->when, scope, &applies, message))
			return s;
		if (!applies)
			continue;
		int n = s->first || s->after || s->one_in || strstr(s->rest, "%d") ? counted(s) : 0;
		if (count)
			*count = n + 1;
		if ((!s->first || n < s->first) && n >= s->after && (!s->one_in || hash_of(s->key, &n, sizeof n) % (unsigned)s->one_in == 0))
			return s;
	}
	return NULL;
}

uint64_t host_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wait_until(uint64_t ready) {
	struct timespec t = {(time_t)(ready / 1000000000u), (long)(ready % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

void hang(void) {
	for (;;)
		pause();
}

static void *crash(void *address) {
	*(volatile int *)address = 1;
	return NULL;
}

void unquoted(char *to, size_t room, const char *quoted) {
	const char *from = strchr(quoted, '"');
	size_t n = 0;
	for (from = from ? from + 1 : quoted; *from && *from != '"' && n + 1 < room; from++) {
		bool line = from[0] == '\\' && from[1] == 'n';
		to[n++] = line ? '\n' : *from;
		from += line;
	}
	to[n] = 0;
}

bool perform(const Statement *s, const Scope *scope, int count) {
	char text[512], line[600], message[160];
	void *address = (void *)8;
	double ms;
	pthread_t thread;
	if (strcmp(s->verb, "prints") == 0 || strcmp(s->verb, "complains") == 0) {
		unquoted(text, sizeof text, s->rest);
		char *number = strstr(text, "%d");
		int n = number ? (int)(number - text) : (int)strlen(text);
		snprintf(line, sizeof line, "%.*s", n, text);
		if (number)
			snprintf(line + n, sizeof line - (size_t)n, "%d%s", count, number + 2);
		dprintf(s->verb[0] == 'p' ? 1 : 2, "%s\n", line);
	} else if (strcmp(s->verb, "waits") == 0 && evaluate(s->rest, scope, &ms, message)) {
		wait_until(host_now() + (uint64_t)(ms * 1e6));
	} else if (strcmp(s->verb, "hangs") == 0) {
		hang();
	} else if (strcmp(s->verb, "crashes") == 0 && strcmp(s->rest, "apart") == 0 && pthread_create(&thread, NULL, crash, address) == 0) {
		pthread_join(thread, NULL);
	} else if (strcmp(s->verb, "crashes") == 0) {
		crash(address);
	} else if (strcmp(s->verb, "traps") == 0) {
		__builtin_trap();
	} else {
		return false;
	}
	return true;
}
