#define _GNU_SOURCE
#include "linux_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

int
linux_event_descriptor (void)
{
  return eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
}

int
linux_accept (int listener)
{
  return accept4 (listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void
linux_name_current_thread (const char *name)
{
  char truncated[16];
  snprintf (truncated, sizeof truncated, "%s", name);
  pthread_setname_np (pthread_self (), truncated);
}
