#define _GNU_SOURCE
#include "process_guard.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The descriptors of the guard, beside 0 to 2, which are /dev/null. */
enum { CONTROL = 3, REPORTS = 4, OUTPUT = 5, PASSED = 6, FIRST_FREE = 7 };

/* The arguments of guard_main, in front of the program's. Empty ones stand for NULL. */
enum { FOLDER = 0, PRIVATE_FOLDER = 1, PROGRAM = 2 };

/* How long the processes have after SIGTERM, and after SIGKILL. */
enum { TERM_MILLISECONDS = 2000, KILL_MILLISECONDS = 2000 };

static void
close_from (int first)
{
  if (syscall (SYS_close_range, first, ~0U, 0) == 0)
    return;
  /* Before Linux 5.9. */
  for (int descriptor = first; descriptor < 65536; descriptor++)
    close (descriptor);
}

static void
report (int descriptor, int32_t kind, int32_t value)
{
  guard_report message = { kind, value };
  /* A failure can't be reported. */
  ssize_t count = write (descriptor, &message, sizeof message);
  (void) count;
}

static void
reset_signals (void)
{
  sigset_t none;
  for (int number = 1; number < NSIG; number++)
    signal (number, SIG_DFL);
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
}

static long
milliseconds (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000L + now.tv_nsec / 1000000L;
}

/* Sends a signal once to each: to the program's group, and to processes that have left it, whose parent the guard
   becomes as a subreaper. For many programs a second SIGTERM means to end at once. */
static void
signal_all (pid_t program, int number)
{
  char text[4096];
  int children = open ("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  kill (-program, number);
  if (children < 0)
    return;
  ssize_t count = read (children, text, sizeof text - 1);
  close (children);
  pid_t child = 0;
  for (ssize_t at = 0; at < count; at++) {
    if (text[at] >= '0' && text[at] <= '9') {
      child = child * 10 + (text[at] - '0');
    } else {
      if (child > 0 && getpgid (child) != program)
        kill (child, number);
      child = 0;
    }
  }
}

static void
run_program (char **arguments, int has_passed)
{
  const char *folder = arguments[FOLDER];
  setpgid (0, 0);
  reset_signals ();
  dup2 (OUTPUT, STDOUT_FILENO);
  dup2 (OUTPUT, STDERR_FILENO);
  fcntl (REPORTS, F_SETFD, FD_CLOEXEC);
  if (has_passed)
    dup2 (PASSED, 3);
  else
    close (3);
  close (OUTPUT);
  close (PASSED);
  close_from (FIRST_FREE);
  if (*folder == 0 || chdir (folder) == 0)
    execvp (arguments[PROGRAM], arguments + PROGRAM);
  report (REPORTS, GUARD_FAILED, errno);
  _exit (127);
}

/* Waits for children that have ended. Returns whether there are others. */
static int
reap (pid_t program, int *status)
{
  for (;;) {
    int ended_status;
    pid_t ended = waitpid (-1, &ended_status, WNOHANG);
    if (ended == program)
      *status = ended_status;
    if (ended == 0)
      return 1;
    if (ended < 0 && errno != EINTR)
      return 0;
  }
}

/* With the files in it, such as a socket that a killed program has left, but no folders. */
static void
remove_folder (const char *path)
{
  DIR *folder = opendir (path);
  struct dirent *entry;
  while (folder != NULL && (entry = readdir (folder)) != NULL)
    unlinkat (dirfd (folder), entry->d_name, 0);
  if (folder != NULL)
    closedir (folder);
  rmdir (path);
}

static void
wipe (char **texts)
{
  for (; *texts != NULL; texts++)
    memset (*texts, 0, strlen (*texts));
}

int
guard_main (int count, char **arguments)
{
  sigset_t ended;
  int status = 0;
  if (count <= PROGRAM)
    return 2;
  int has_passed = fcntl (PASSED, F_GETFD) >= 0;
  prctl (PR_SET_CHILD_SUBREAPER, 1);
  signal (SIGPIPE, SIG_IGN);
  sigemptyset (&ended);
  sigaddset (&ended, SIGCHLD);
  sigprocmask (SIG_BLOCK, &ended, NULL);
  int signals = signalfd (-1, &ended, SFD_NONBLOCK | SFD_CLOEXEC);

  pid_t program = fork ();
  if (program == 0)
    run_program (arguments, has_passed);
  if (program < 0) {
    report (REPORTS, GUARD_FAILED, errno);
    return 1;
  }
  setpgid (program, program);
  report (REPORTS, GUARD_STARTED, program);
  close (OUTPUT);
  /* Who looks for the program by its command line or environment must not find the guard. */
  wipe (arguments + PROGRAM);
  wipe (environ);
  /* Otherwise the number belongs to another descriptor by now. */
  if (has_passed)
    close (PASSED);

  long deadline = 0;
  int sent = 0;
  while (reap (program, &status)) {
    struct pollfd waited[2] = { { signals, POLLIN, 0 }, { CONTROL, POLLIN, 0 } };
    long left = deadline - milliseconds ();
    poll (waited, sent == 0 ? 2 : 1, sent == 0 ? -1 : left > 0 ? (int) left : 0);
    if (waited[0].revents) {
      struct signalfd_siginfo info;
      while (read (signals, &info, sizeof info) > 0) {
      }
      /* Grandchildren become children only when their parent has ended. */
      if (sent == SIGKILL)
        signal_all (program, SIGKILL);
    }
    if (sent == 0 && waited[1].revents) {
      sent = SIGTERM;
      deadline = milliseconds () + TERM_MILLISECONDS;
      signal_all (program, SIGTERM);
      kill (-program, SIGCONT);
    } else if (sent != 0 && milliseconds () >= deadline) {
      if (sent == SIGKILL)
        break;
      sent = SIGKILL;
      deadline = milliseconds () + KILL_MILLISECONDS;
      signal_all (program, SIGKILL);
    }
  }
  if (*arguments[PRIVATE_FOLDER])
    remove_folder (arguments[PRIVATE_FOLDER]);
  report (REPORTS, GUARD_ENDED, status);
  return 0;
}

/* In a copy of a process with several threads: it may call nothing but functions that are safe in signal handlers. */
static void
run_guard (const guarded_command *command, char **arguments, int control, int reports)
{
  int kept[4] = { control, reports, command->output, command->passed };

  /* A session of its own: Ctrl-C in the terminal is for the parent process. */
  setsid ();
  reset_signals ();
  for (int at = 0; at < 4; at++)
    if (kept[at] >= 0)
      kept[at] = fcntl (kept[at], F_DUPFD, 64);
  int null = open ("/dev/null", O_RDWR);
  for (int at = 0; at < 3; at++)
    dup2 (null, at);
  for (int at = 0; at < 4; at++)
    if (kept[at] >= 0)
      dup2 (kept[at], CONTROL + at);
    else
      close (CONTROL + at);
  close_from (FIRST_FREE);
  execve (command->guard[0], arguments, command->environment);
  report (REPORTS, GUARD_FAILED, errno);
  _exit (127);
}

const char *
guard_own_file (void)
{
  static const char place;
  Dl_info info;
  return dladdr (&place, &info) != 0 ? info.dli_fname : NULL;
}

static size_t
count_of (char *const *texts)
{
  size_t count = 0;
  while (texts[count] != NULL)
    count++;
  return count;
}

/* The guard's own arguments, the two of guard_main, and the program's. NULL without memory. */
static char **
guard_arguments (const guarded_command *command)
{
  size_t own = count_of (command->guard), others = count_of (command->arguments);
  char **all = calloc (own + PROGRAM + others + 1, sizeof *all);
  if (all == NULL)
    return NULL;
  for (size_t at = 0; at < own; at++)
    all[at] = command->guard[at];
  all[own + FOLDER] = (char *) (command->folder ? command->folder : "");
  all[own + PRIVATE_FOLDER] = (char *) (command->private_folder ? command->private_folder : "");
  for (size_t at = 0; at < others; at++)
    all[own + PROGRAM + at] = command->arguments[at];
  return all;
}

int
guard_start (const guarded_command *command, int *control, int *reports)
{
  int control_pipe[2], report_pipe[2];
  char **arguments = guard_arguments (command);
  if (arguments == NULL)
    return -1;
  if (pipe2 (control_pipe, O_CLOEXEC) != 0) {
    free (arguments);
    return -1;
  }
  if (pipe2 (report_pipe, O_CLOEXEC) != 0) {
    int reason = errno;
    free (arguments);
    close (control_pipe[0]);
    close (control_pipe[1]);
    errno = reason;
    return -1;
  }
  fcntl (report_pipe[0], F_SETFL, O_NONBLOCK);
  /* Twice, so that the guard is no child of this process: it may wait for all of its children, or for none. No signal
     comes before the guard has its own handlers. */
  sigset_t all, former;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &former);
  pid_t middle = fork ();
  if (middle == 0) {
    pid_t guard = fork ();
    if (guard == 0) {
      close (control_pipe[1]);
      close (report_pipe[0]);
      run_guard (command, arguments, control_pipe[0], report_pipe[1]);
    }
    _exit (guard < 0 ? 1 : 0);
  }
  int reason = errno;
  pthread_sigmask (SIG_SETMASK, &former, NULL);
  free (arguments);
  close (control_pipe[0]);
  close (report_pipe[1]);
  int status = 0;
  if (middle > 0) {
    pid_t waited;
    do
      waited = waitpid (middle, &status, 0);
    while (waited < 0 && errno == EINTR);
    /* A handler of SIGCHLD may have been faster. Without a guard, the pipe ends. */
    if (waited < 0 || status == 0) {
      *control = control_pipe[1];
      *reports = report_pipe[0];
      return 0;
    }
    reason = EAGAIN;
  }
  close (control_pipe[1]);
  close (report_pipe[0]);
  errno = reason;
  return -1;
}
