import GStreamerKit
import H264
import SDLApp
import X264Encoder

/// What caps say of the pictures that upstream is about to send.
struct InputCaps {
  let format: FramePath.Format
  /// Nil for a variable rate. A maximum that is given with that is as good as a rate.
  let frameRate: Fraction?
  /// Nil for H.264 that does not tell.
  let size: VideoSize?
  /// Of H.264 with lengths in front of its NAL units.
  let configuration: DecoderConfiguration?

  /// Nil for raw video that is not described in full, and for H.264 whose `codec_data` can't be read.
  init?(_ caps: UnsafeMutablePointer<GstCaps>) {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    if structure.hasName("video/x-h264") {
      format = .h264
      guard let form = H264Caps(structure).form else { return nil }
      configuration = form.configuration
    } else {
      configuration = nil
      var info = GstVideoInfo()
      guard gst_video_info_from_caps(&info, caps) != 0 else { return nil }
      format = .raw(info)
    }
    let rates = ["framerate", "max-framerate"].compactMap { structure.fraction($0).flatMap(Fraction.init(terms:)) }
    frameRate = rates.first
    if let width = structure.integer("width"), let height = structure.integer("height") {
      size = VideoSize(Int(width), Int(height))
    } else {
      size = nil
    }
  }

  /// Head units have square pixels.
  var pixelWarning: ElementError? {
    guard case .raw(let info) = format, info.par_n != info.par_d else { return nil }
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "The pixels of the input are not square (\(info.par_n)/\(info.par_d)), but the head unit's are: the picture is stretched. Put videoconvertscale before sdlvideosink."
    )
  }
}

/// Why caps that the core is about to refuse can't be used.
extension InputCaps {
  /// Nil when they can be used.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    switch structure.name {
    case "video/x-raw": return rawRejectionReason(caps)
    case "video/x-h264": return H264Caps(structure).rejectionReason
    case let other:
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(other) can't be shown: sdlvideosink takes raw video (put videoconvert before it) and H.264 (h264parse).")
    }
  }

  private static func rawRejectionReason(_ caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps) != 0 else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "Raw video with incomplete caps can't be encoded: put videoconvertscale before sdlvideosink.")
    }
    let format = cgst_video_info_format(&info)
    guard PixelFormats.encoderFormat(format) != nil else {
      let name = gst_video_format_to_string(format).map { String(cString: $0) } ?? "this format"
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "\(name) can't be encoded: put videoconvert before sdlvideosink (it takes I420, YV12, NV12, NV21).")
    }
    guard info.interlace_mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE else {
      return .stream(
        GST_STREAM_ERROR_FORMAT, "Interlaced video can't be shown by a head unit: put deinterlace before sdlvideosink.")
    }
    guard info.width.isMultiple(of: 2), info.height.isMultiple(of: 2), min(info.width, info.height) >= 16,
      max(info.width, info.height) <= 8192,
      EncoderSettings.canEncode(width: Int(info.width), height: Int(info.height))
    else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "\(info.width)×\(info.height) can't be encoded, sides must be even and between 16 and 8192, and the area at most that of H.264 level 6.2: put videoconvertscale before sdlvideosink."
      )
    }
    return nil
  }

  /// Whether caps are those of H.264 that the sink takes, whatever they leave open.
  static func isH264(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = StructureView(caps: caps, 0), structure.hasName("video/x-h264") else { return false }
    return H264Caps(structure).isTaken
  }
}
