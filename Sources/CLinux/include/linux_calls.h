#ifndef LINUX_CALLS_H
#define LINUX_CALLS_H

/* Calls that glibc declares only for _GNU_SOURCE or in headers outside of Swift's Glibc module, or with types that Swift
   can't compare. */

#include <signal.h>

/* A close-on-exec, non-blocking event counter, or -1 with errno. */
int linux_event_descriptor (void);

/* Both ends of a pipe, close-on-exec, of which only reading does not block; 0, or -1 with errno. */
int linux_pipe (int *_Nonnull reading, int *_Nonnull writing);

/* accept(2) of a close-on-exec, non-blocking socket, or -1 with errno. */
int linux_accept (int listener);

/* Blocks SIGINT, SIGTERM and SIGHUP, the signal of a terminal that is closed, in this thread and in those that it starts,
   and returns them for sigwait(3). SIGHUP stays ignored if it is, as under nohup(1): sigwait would return it. */
sigset_t linux_block_ending_signals (void);

/* At most 15 bytes of `name` become the calling thread's name. */
void linux_name_current_thread (const char *_Nonnull name);

/* The round-trip times of a TCP connection in microseconds, 0 for a time that the kernel does not know. Returns 0, or -1
   with errno for other sockets. */
int linux_round_trip (int socket, unsigned int *_Nonnull smoothed, unsigned int *_Nonnull minimum);

/* The bytes that a TCP socket holds and has never sent, or -1 with errno. */
int linux_unsent_bytes (int socket);

#endif
