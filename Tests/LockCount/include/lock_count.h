#ifndef LOCK_COUNT_H
#define LOCK_COUNT_H

/* How often this thread has locked a pthread mutex so far, in code of this program: libraries are not counted. Always 0 with a
 * sanitizer, which has a pthread_mutex_lock of its own. */
unsigned long lock_count (void);

#endif
