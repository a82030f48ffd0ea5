#ifndef CLIBRARIES_H
#define CLIBRARIES_H

#include <dlfcn.h>
#include <stdlib.h>

/* Libraries that are looked up when they are first needed. Linked to the plugin, they would cost time and megabytes
 * whenever GStreamer loads it, and it would not load where one of them is missing.
 *
 * Each header lists the functions of a library: as FUNCTION (name), with the type of its own header; or as FUNCTION
 * (name, result, parameters), by the stable ABI, where the build does without that header. */

/* Declares a function that no header declares. */
#define LIBRARY_PROTOTYPE(name, result, parameters) result name parameters;

/* Declares Table, whose members are the addresses of FUNCTIONS; and `load`, which allocates one for the life of the
 * process, from the libraries with the names that follow. It returns NULL if there is no such library, or it lacks a
 * function, whose name it puts into `missing`. */
#define LIBRARY_TABLE(Table, load, FUNCTIONS, ...) \
  typedef struct { \
    FUNCTIONS (LIBRARY_MEMBER) \
  } Table; \
  static inline const Table *_Nullable load (const char *_Nullable *_Nullable missing) \
  { \
    static const char *const files[] = { __VA_ARGS__, NULL }; \
    static const char *const names[] = { FUNCTIONS (LIBRARY_NAME) NULL }; \
    return (const Table *) library_look_up (files, names, missing); \
  }
#define LIBRARY_MEMBER(name, ...) __typeof__ (name) *_Nonnull name;
#define LIBRARY_NAME(name, ...) #name,

/* Looks each name up in all files, since a later version may have moved it. The libraries stay loaded. */
static inline void *_Nullable *_Nullable
library_look_up (const char *_Nullable const *_Nonnull files, const char *_Nullable const *_Nonnull names,
    const char *_Nullable *_Nullable missing)
{
  size_t count = 0;
  while (names[count])
    count++;
  void **addresses = calloc (count, sizeof (void *));
  for (size_t i = 0; addresses && i < count; i++) {
    for (const char *const *file = files; *file && !addresses[i]; file++) {
      void *library = dlopen (*file, RTLD_NOW | RTLD_LOCAL);
      addresses[i] = library ? dlsym (library, names[i]) : NULL;
    }
    if (!addresses[i]) {
      if (missing)
        *missing = names[i];
      free (addresses);
      return NULL;
    }
  }
  return addresses;
}

#endif
