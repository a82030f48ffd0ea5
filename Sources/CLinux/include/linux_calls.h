#ifndef LINUX_CALLS_H
#define LINUX_CALLS_H

/* Calls that glibc declares only for _GNU_SOURCE or in headers outside of Swift's Glibc module. */

/* A close-on-exec, non-blocking event counter, or -1 with errno. */
int linux_event_descriptor (void);

/* accept(2) of a close-on-exec, non-blocking socket, or -1 with errno. */
int linux_accept (int listener);

/* At most 15 bytes of `name` become the calling thread's name. */
void linux_name_current_thread (const char *_Nonnull name);

#endif
