#pragma once
#include <stdint.h>

/// Returns how many blocks of memory this thread has allocated.
///
/// The counter wraps glibc's malloc, which the Swift runtime calls for every object; on other systems the result is 0.
uint64_t allocations_of_thread(void);

/// Returns whether allocations are counted on this system.
int allocations_are_counted(void);
