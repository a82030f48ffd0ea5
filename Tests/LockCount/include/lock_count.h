#ifndef LOCK_COUNT_H
#define LOCK_COUNT_H

/* How often this thread has locked a mutex of pthread or GLib so far, in code of this program: what libraries lock is not
 * counted. */
unsigned long lock_count (void);

/* Whether that is known: a sanitizer has a pthread_mutex_lock of its own. */
int counts_locks (void);

#endif
