#include "cost.h"

/* From the sanitizers' allocator; weak, since a build without them has none. */
extern int __sanitizer_install_malloc_and_free_hooks (
    void (*malloc_hook) (const volatile void *, size_t), void (*free_hook) (const volatile void *))
    __attribute__ ((weak));
extern size_t __sanitizer_get_allocated_size (const volatile void *pointer) __attribute__ ((weak));

static _Thread_local long long held, peak;

static void
count_malloc (const volatile void *pointer, size_t size)
{
  (void) pointer;
  held += (long long) size;
  if (held > peak)
    peak = held;
}

static void
count_free (const volatile void *pointer)
{
  if (pointer != NULL)
    held -= (long long) __sanitizer_get_allocated_size (pointer);
}

int
cost_start (void)
{
  static int is_installed;

  if (&__sanitizer_install_malloc_and_free_hooks == NULL)
    return 0;
  if (!is_installed)
    is_installed = __sanitizer_install_malloc_and_free_hooks (count_malloc, count_free) != 0;
  held = peak = 0;
  return is_installed;
}

size_t
cost_peak (void)
{
  return (size_t) peak;
}
