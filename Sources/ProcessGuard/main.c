#include "process_guard.h"

/* sdl-process-guard, which stands beside the plugin: see process_guard.h. */
int
main (int count, char **arguments)
{
  return guard_main (count - 1, arguments + 1);
}
