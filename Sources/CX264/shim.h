#ifndef CX264_SHIM_H
#define CX264_SHIM_H

#include <stdint.h>
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

#endif
