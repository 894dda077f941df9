// Counts the calls of the Swift runtime that a process makes, in the file that COUNTS_FILE names: five numbers of eight bytes, for retains,
// releases, checks of exclusive access, allocations of objects, and calls of malloc, calloc, realloc and posix_memalign.
//
// Loaded with LD_PRELOAD, so that its functions are called instead of those with the same names. Calls within libswiftCore are not counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { retains, releases, accesses, objects, allocations, kinds };

static atomic_uint_fast64_t unseen[kinds];
static atomic_uint_fast64_t *counts = unseen;

static void count(int kind) { atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed); }

// Defines a function that counts and then calls the one that it hides; RESULT is `return`, or nothing for a function without a result.
#define COUNTED(KIND, TYPE, RESULT, NAME, PARAMETERS, ARGUMENTS)                \
    TYPE NAME PARAMETERS {                                                      \
        static TYPE(*_Atomic hidden) PARAMETERS;                                \
        if (!hidden) hidden = (TYPE(*) PARAMETERS)dlsym(RTLD_NEXT, #NAME);      \
        count(KIND);                                                            \
        RESULT hidden ARGUMENTS;                                                \
    }

COUNTED(retains, void *, return, swift_retain, (void *object), (object))
COUNTED(retains, void *, return, swift_retain_n, (void *object, uint32_t number), (object, number))
COUNTED(retains, void *, return, swift_bridgeObjectRetain, (void *object), (object))
COUNTED(retains, void *, return, swift_bridgeObjectRetain_n, (void *object, int number), (object, number))
COUNTED(releases, void, , swift_release, (void *object), (object))
COUNTED(releases, void, , swift_release_n, (void *object, uint32_t number), (object, number))
COUNTED(releases, void, , swift_bridgeObjectRelease, (void *object), (object))
COUNTED(releases, void, , swift_bridgeObjectRelease_n, (void *object, int number), (object, number))
COUNTED(accesses, void, , swift_beginAccess, (void *place, void *buffer, uintptr_t flags, void *pc), (place, buffer, flags, pc))
COUNTED(objects, void *, return, swift_allocObject, (const void *type, size_t size, size_t mask), (type, size, mask))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    count(allocations);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(allocations);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count(allocations);
    return __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count(allocations);
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("COUNTS_FILE");
    int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof unseen)) _exit(99);
    void *shared = mmap(NULL, sizeof unseen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) _exit(99);
    counts = shared;
}
