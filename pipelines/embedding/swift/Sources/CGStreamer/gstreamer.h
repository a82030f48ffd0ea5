#include <gst/app/gstappsrc.h>
#include <gst/video/navigation.h>
