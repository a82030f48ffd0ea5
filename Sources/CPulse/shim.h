#ifndef CPULSE_SHIM_H
#define CPULSE_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* The functions of libpulse for a null sink and its sound, declared by their stable ABI and looked up when they are
 * needed. PulseAudio and PipeWire (pipewire-pulse) both answer them. */

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
  FUNCTION (int, pa_context_connect, (CPulseContext *, const char *, unsigned, const void *)) \
  FUNCTION (int, pa_context_errno, (const CPulseContext *)) \
  FUNCTION (int, pa_context_get_state, (const CPulseContext *)) \
  FUNCTION (CPulseOperation *, pa_context_load_module, \
            (CPulseContext *, const char *, const char *, CPulseIndex, void *)) \
  FUNCTION (CPulseContext *, pa_context_new, (void *, const char *)) \
  FUNCTION (void, pa_context_set_state_callback, (CPulseContext *, CPulseContextChange, void *)) \
  FUNCTION (CPulseOperation *, pa_context_unload_module, (CPulseContext *, uint32_t, CPulseSuccess, void *)) \
  FUNCTION (void, pa_operation_unref, (CPulseOperation *)) \
  FUNCTION (void, pa_proplist_free, (CPulseProperties *)) \
  FUNCTION (CPulseProperties *, pa_proplist_new, (void)) \
  FUNCTION (int, pa_proplist_sets, (CPulseProperties *, const char *, const char *)) \
  FUNCTION (int, pa_stream_connect_record, (CPulseStream *, const char *, const CPulseBuffer *, unsigned)) \
  FUNCTION (int, pa_stream_drop, (CPulseStream *)) \
  FUNCTION (int, pa_stream_get_state, (const CPulseStream *)) \
  FUNCTION (CPulseStream *, pa_stream_new_with_proplist, \
            (CPulseContext *, const char *, const CPulseFormat *, const void *, CPulseProperties *)) \
  FUNCTION (int, pa_stream_peek, (CPulseStream *, const void **, size_t *)) \
  FUNCTION (void, pa_stream_set_read_callback, (CPulseStream *, CPulseSamples, void *)) \
  FUNCTION (void, pa_stream_set_state_callback, (CPulseStream *, CPulseStreamChange, void *)) \
  FUNCTION (const char *, pa_strerror, (int)) \
  FUNCTION (void *, pa_threaded_mainloop_get_api, (CPulseLoop *)) \
  FUNCTION (void, pa_threaded_mainloop_lock, (CPulseLoop *)) \
  FUNCTION (CPulseLoop *, pa_threaded_mainloop_new, (void)) \
  FUNCTION (void, pa_threaded_mainloop_signal, (CPulseLoop *, int)) \
  FUNCTION (int, pa_threaded_mainloop_start, (CPulseLoop *)) \
  FUNCTION (void, pa_threaded_mainloop_unlock, (CPulseLoop *)) \
  FUNCTION (void, pa_threaded_mainloop_wait, (CPulseLoop *))

#define CPULSE_MEMBER(result, name, arguments) result (*_Nonnull name) arguments;
typedef struct {
  CPULSE_FUNCTIONS (CPULSE_MEMBER)
} CPulseFunctions;
#undef CPULSE_MEMBER

/* Fills `functions`; false when the library is missing, or lacks one of them. It stays loaded. */
static inline _Bool
cpulse_load (CPulseFunctions *_Nonnull functions)
{
  void *library = dlopen ("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
  _Bool is_complete = library != NULL;

#define CPULSE_LOOK_UP(result, name, arguments) \
  { \
    void *function = library ? dlsym (library, #name) : NULL; \
    is_complete = is_complete && function; \
    *(void **) &functions->name = function; \
  }
  CPULSE_FUNCTIONS (CPULSE_LOOK_UP)
#undef CPULSE_LOOK_UP
  return is_complete;
}

#endif
