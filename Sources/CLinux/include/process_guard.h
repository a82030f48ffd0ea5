#ifndef PROCESS_GUARD_H
#define PROCESS_GUARD_H

#include <stdint.h>
#include <sys/types.h>

/* A program below a guard: a process of its own that ends the program and all its descendants, with SIGTERM and after
   two seconds with SIGKILL, as soon as the writing end of its pipe is closed everywhere. So no process stays when this
   one is killed. The guard is a program too, which shares neither memory nor descriptors with this process. */

typedef struct {
  /* The program that calls guard_main: its path, and the arguments that make it do so; ends with NULL. */
  char *_Nullable const *_Nonnull guard;
  /* Ends with NULL. The first one is looked up in PATH. */
  char *_Nullable const *_Nonnull arguments;
  /* Ends with NULL. */
  char *_Nullable const *_Nonnull environment;
  /* The working directory; NULL is this process's. */
  const char *_Nullable folder;
  /* Becomes its standard output and error. */
  int output;
  /* Becomes its descriptor 3, or -1. */
  int passed;
  /* Removed with the files in it when all processes have ended; NULL for none. */
  const char *_Nullable private_folder;
} guarded_command;

/* A report of the guard, in native byte order. */
typedef struct {
  /* One of guard_kind. */
  int32_t kind;
  int32_t value;
} guard_report;

enum guard_kind {
  /* The value is the process id. */
  GUARD_STARTED = 1,
  /* The program could not be started; the value is errno. */
  GUARD_FAILED = 2,
  /* All processes have ended; the value is the program's status from waitpid(2). */
  GUARD_ENDED = 3
};

/* Starts a guard with its program.

   control: is closed to end them. reports: guard_report after guard_report is read there, without blocking. Both are
   closed on exec.
   Returns 0, or -1 with errno. */
int guard_start (const guarded_command *_Nonnull command, int *_Nonnull control, int *_Nonnull reports);

/* The path of the program or shared object that has this code; NULL if it is not known. */
const char *_Nullable guard_own_file (void);

/* The guard's own work, with the arguments behind those of guarded_command.guard. Returns the status of its process. */
int guard_main (int count, char *_Nullable *_Nonnull arguments);

#endif
