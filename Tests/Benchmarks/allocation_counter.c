/* Preloaded into a process, counts its heap allocations: all of them, and those made by one library itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *(*real_malloc) (size_t);
static void *(*real_calloc) (size_t, size_t);
static void *(*real_realloc) (void *, size_t);
static int (*real_posix_memalign) (void **, size_t, size_t);

static atomic_ulong all, own;
static atomic_uintptr_t low, high;

/* dlsym itself allocates before calloc is known. */
static char early[4096];
static size_t early_size;

static int
find_library (struct dl_phdr_info *info, size_t size, void *name)
{
  if (!strstr (info->dlpi_name, name))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW (Phdr) * header = &info->dlpi_phdr[i];
    if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
      atomic_store (&high, info->dlpi_addr + header->p_vaddr + header->p_memsz);
      atomic_store (&low, info->dlpi_addr + header->p_vaddr);
    }
  }
  return 1;
}

static void
count (void *caller)
{
  unsigned long number = atomic_fetch_add (&all, 1);
  uintptr_t address = (uintptr_t) caller;

  /* The library comes late; looking for it at every 64th allocation finds it long before frames flow. */
  if (atomic_load (&low) == 0 && number % 64 == 0 && getenv ("COUNTED_LIBRARY"))
    dl_iterate_phdr (find_library, getenv ("COUNTED_LIBRARY"));
  if (address >= atomic_load (&low) && address < atomic_load (&high))
    atomic_fetch_add (&own, 1);
}

static void
resolve (void)
{
  real_calloc = dlsym (RTLD_NEXT, "calloc");
  real_malloc = dlsym (RTLD_NEXT, "malloc");
  real_realloc = dlsym (RTLD_NEXT, "realloc");
  real_posix_memalign = dlsym (RTLD_NEXT, "posix_memalign");
}

void *
malloc (size_t size)
{
  if (!real_malloc)
    resolve ();
  count (__builtin_return_address (0));
  return real_malloc (size);
}

void *
calloc (size_t number, size_t size)
{
  if (!real_calloc) {
    static int resolving;
    if (resolving) {
      void *memory = early + early_size;
      early_size += (number * size + 15) & ~(size_t) 15;
      return early_size <= sizeof early ? memory : NULL;
    }
    resolving = 1;
    resolve ();
  }
  count (__builtin_return_address (0));
  return real_calloc (number, size);
}

void *
realloc (void *memory, size_t size)
{
  if (!real_realloc)
    resolve ();
  count (__builtin_return_address (0));
  return real_realloc (memory, size);
}

int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  if (!real_posix_memalign)
    resolve ();
  count (__builtin_return_address (0));
  return real_posix_memalign (memory, alignment, size);
}

__attribute__((destructor))
static void
report (void)
{
  const char *path = getenv ("ALLOCATION_REPORT");
  FILE *file = path ? fopen (path, "w") : NULL;

  if (file) {
    fprintf (file, "%lu %lu\n", atomic_load (&all), atomic_load (&own));
    fclose (file);
  }
}
