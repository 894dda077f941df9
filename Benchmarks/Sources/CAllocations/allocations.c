#include "CAllocations.h"

#include <stddef.h>

static _Thread_local uint64_t count;

uint64_t allocations_of_thread(void) { return count; }

#ifdef __GLIBC__

#include <errno.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

int allocations_are_counted(void) { return 1; }

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count++;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count++;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

#else

int allocations_are_counted(void) { return 0; }

#endif
