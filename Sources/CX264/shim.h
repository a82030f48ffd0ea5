#ifndef CX264_SHIM_H
#define CX264_SHIM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <x264.h>

/* x264_encoder_open is a macro that appends X264_BUILD to the symbol. */
static inline x264_t *
cx264_encoder_open (x264_param_t *parameters)
{
  return x264_encoder_open (parameters);
}

/* An array of unknown length is not imported; it ends with a level_idc of 0. */
static inline const x264_level_t *
cx264_levels (void)
{
  return x264_levels;
}

/* Who gets a message of x264 as text. A Swift function can't take a va_list on every processor. */
typedef struct {
  void (*receive) (void *context, int level, const char *text);
  void *context;
} cx264_log_target;

/* Longer messages are cut; the largest that x264 has is a line of statistics. */
static inline void
cx264_log (void *target, int level, const char *format, va_list arguments)
{
  const cx264_log_target *log = target;
  char text[1024];
  int length = vsnprintf (text, sizeof text, format, arguments);
  log->receive (log->context, level, length < 0 ? format : text);
}

static inline void
cx264_set_log (x264_param_t *parameters, cx264_log_target *target)
{
  parameters->pf_log = cx264_log;
  parameters->p_log_private = target;
}

#endif
