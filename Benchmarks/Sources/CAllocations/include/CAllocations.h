#pragma once
#include <stdint.h>

/// How many blocks of memory this thread has asked the system for.
///
/// Counted in place of glibc's malloc, which the Swift runtime calls for every object; elsewhere always 0.
uint64_t allocations_of_thread(void);

/// Whether they are counted here.
int allocations_are_counted(void);
