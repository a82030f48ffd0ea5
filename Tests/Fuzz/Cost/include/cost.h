#ifndef COST_H
#define COST_H

#include <stddef.h>
#include <stdint.h>

/* The memory that this thread's heap takes, as the sanitizers' allocator reports it. */

/* Counts from now on. Returns 0 where there is no such allocator. */
int cost_start (void);

/* The most bytes that have been taken at one time since cost_start, beyond those of then. */
size_t cost_peak (void);

/* libFuzzer as a library: its options, and what is called with each input. */
int LLVMFuzzerRunDriver (int *argc, char ***argv, int (*callback) (const uint8_t * data, size_t size));

#endif
