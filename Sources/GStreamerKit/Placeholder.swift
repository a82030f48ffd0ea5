// GStreamerKit
