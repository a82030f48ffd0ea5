#ifndef CPULSE_H
#define CPULSE_H

#include <stdint.h>
#include "CLibraries.h"

/* libpulse for a null sink and its sound, without its headers. PulseAudio and PipeWire (pipewire-pulse) answer it. */

typedef struct _CPulseContext CPulseContext;
typedef struct _CPulseLoop CPulseLoop;
typedef struct _CPulseOperation CPulseOperation;
typedef struct _CPulseProperties CPulseProperties;
typedef struct _CPulseStream CPulseStream;

/* pa_sample_spec */
typedef struct {
  int format;
  uint32_t rate;
  uint8_t channels;
} CPulseFormat;

/* pa_buffer_attr */
typedef struct {
  uint32_t maximum, target, before_start, request, fragment;
} CPulseBuffer;

typedef void (*CPulseContextChange) (CPulseContext *_Nonnull, void *_Nullable);
typedef void (*CPulseIndex) (CPulseContext *_Nonnull, uint32_t index, void *_Nullable);
typedef void (*CPulseStreamChange) (CPulseStream *_Nonnull, void *_Nullable);
typedef void (*CPulseSamples) (CPulseStream *_Nonnull, size_t, void *_Nullable);
typedef void (*CPulseSuccess) (CPulseContext *_Nonnull, int, void *_Nullable);

enum {
  /* PA_CONTEXT_NOAUTOSPAWN */
  CPULSE_NO_AUTOSPAWN = 1,
  /* PA_CONTEXT_READY, PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED */
  CPULSE_CONTEXT_READY = 4,
  CPULSE_CONTEXT_FAILED = 5,
  CPULSE_CONTEXT_TERMINATED = 6,
  /* PA_STREAM_FAILED, PA_STREAM_TERMINATED */
  CPULSE_STREAM_FAILED = 3,
  CPULSE_STREAM_TERMINATED = 4,
  /* PA_STREAM_DONT_MOVE, PA_STREAM_ADJUST_LATENCY, PA_STREAM_DONT_INHIBIT_AUTO_SUSPEND */
  CPULSE_DONT_MOVE = 0x200,
  CPULSE_ADJUST_LATENCY = 0x2000,
  CPULSE_DONT_INHIBIT_AUTO_SUSPEND = 0x8000,
  /* PA_SAMPLE_S16LE */
  CPULSE_S16LE = 3
};

/* PA_INVALID_INDEX, and the value that leaves a member of pa_buffer_attr to the server. */
static const uint32_t CPULSE_NONE = UINT32_MAX;

#define CPULSE_FUNCTIONS(FUNCTION) \
  FUNCTION (pa_context_connect, int, (CPulseContext *, const char *, unsigned, const void *)) \
  FUNCTION (pa_context_errno, int, (const CPulseContext *)) \
  FUNCTION (pa_context_get_state, int, (const CPulseContext *)) \
  FUNCTION (pa_context_load_module, CPulseOperation *, \
      (CPulseContext *, const char *, const char *, CPulseIndex, void *)) \
  FUNCTION (pa_context_new, CPulseContext *, (void *, const char *)) \
  FUNCTION (pa_context_set_state_callback, void, (CPulseContext *, CPulseContextChange, void *)) \
  FUNCTION (pa_context_unload_module, CPulseOperation *, (CPulseContext *, uint32_t, CPulseSuccess, void *)) \
  FUNCTION (pa_operation_unref, void, (CPulseOperation *)) \
  FUNCTION (pa_proplist_free, void, (CPulseProperties *)) \
  FUNCTION (pa_proplist_new, CPulseProperties *, (void)) \
  FUNCTION (pa_proplist_sets, int, (CPulseProperties *, const char *, const char *)) \
  FUNCTION (pa_stream_connect_record, int, (CPulseStream *, const char *, const CPulseBuffer *, unsigned)) \
  FUNCTION (pa_stream_drop, int, (CPulseStream *)) \
  FUNCTION (pa_stream_get_state, int, (const CPulseStream *)) \
  FUNCTION (pa_stream_new_with_proplist, CPulseStream *, \
      (CPulseContext *, const char *, const CPulseFormat *, const void *, CPulseProperties *)) \
  FUNCTION (pa_stream_peek, int, (CPulseStream *, const void **, size_t *)) \
  FUNCTION (pa_stream_set_read_callback, void, (CPulseStream *, CPulseSamples, void *)) \
  FUNCTION (pa_stream_set_state_callback, void, (CPulseStream *, CPulseStreamChange, void *)) \
  FUNCTION (pa_strerror, const char *, (int)) \
  FUNCTION (pa_threaded_mainloop_get_api, void *, (CPulseLoop *)) \
  FUNCTION (pa_threaded_mainloop_lock, void, (CPulseLoop *)) \
  FUNCTION (pa_threaded_mainloop_new, CPulseLoop *, (void)) \
  FUNCTION (pa_threaded_mainloop_signal, void, (CPulseLoop *, int)) \
  FUNCTION (pa_threaded_mainloop_start, int, (CPulseLoop *)) \
  FUNCTION (pa_threaded_mainloop_unlock, void, (CPulseLoop *)) \
  FUNCTION (pa_threaded_mainloop_wait, void, (CPulseLoop *))

CPULSE_FUNCTIONS (LIBRARY_PROTOTYPE)
LIBRARY_TABLE (CPulseFunctions, cpulse_load, CPULSE_FUNCTIONS, "libpulse.so.0")

#endif
