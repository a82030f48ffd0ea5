import GStreamerKit
import X264Encoder

/// GStreamer's formats and the encoder's.
enum PixelFormats {
  static func encoderFormat(_ format: GstVideoFormat) -> PixelFormat? {
    switch format {
    case GST_VIDEO_FORMAT_I420: .i420
    case GST_VIDEO_FORMAT_YV12: .yv12
    case GST_VIDEO_FORMAT_NV12: .nv12
    case GST_VIDEO_FORMAT_NV21: .nv21
    default: nil
    }
  }
}
