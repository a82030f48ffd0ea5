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

#endif
