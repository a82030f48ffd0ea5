#define _GNU_SOURCE
#include "linux_calls.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int
linux_event_descriptor (void)
{
  return eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
}

int
linux_pipe (int *reading, int *writing)
{
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return -1;
  fcntl (ends[0], F_SETFL, O_NONBLOCK);
  *reading = ends[0];
  *writing = ends[1];
  return 0;
}

int
linux_accept (int listener)
{
  return accept4 (listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

sigset_t
linux_block_ending_signals (void)
{
  sigset_t signals;
  struct sigaction former;
  sigemptyset (&signals);
  sigaddset (&signals, SIGINT);
  sigaddset (&signals, SIGTERM);
  if (sigaction (SIGHUP, NULL, &former) == 0 && former.sa_handler != SIG_IGN)
    sigaddset (&signals, SIGHUP);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  return signals;
}

void
linux_name_current_thread (const char *name)
{
  char truncated[16];
  snprintf (truncated, sizeof truncated, "%s", name);
  pthread_setname_np (pthread_self (), truncated);
}

/* Whether the kernel's structure, of `length` bytes, has the member. */
#define HAS(length, member) \
  ((length) >= offsetof (struct tcp_info, member) + sizeof (((struct tcp_info *) 0)->member))

int
linux_round_trip (int socket, unsigned int *smoothed, unsigned int *minimum)
{
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset (&info, 0, sizeof info);
  if (getsockopt (socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
    return -1;
  *smoothed = HAS (length, tcpi_rtt) ? info.tcpi_rtt : 0;
  /* Without a sample it is the largest number. */
  *minimum = HAS (length, tcpi_min_rtt) && info.tcpi_min_rtt != ~0u ? info.tcpi_min_rtt : 0;
  return 0;
}

int
linux_unsent_bytes (int socket)
{
  int count = 0;
  return ioctl (socket, SIOCOUTQNSD, &count) == 0 ? count : -1;
}
