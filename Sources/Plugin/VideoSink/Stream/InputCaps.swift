import GStreamerKit
import SDLApp
import X264Encoder

/// What caps say of the pictures that upstream is about to send.
struct InputCaps {
  let format: FramePath.Format
  /// Nil for a variable rate. A maximum that is given with that is as good as a rate.
  let frameRate: Fraction?
  /// Nil for H.264 that does not tell.
  let size: VideoSize?

  /// Nil for raw video that is not described in full.
  init?(_ caps: UnsafeMutablePointer<GstCaps>) {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    if structure.hasName("video/x-h264") {
      format = .h264
    } else {
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
    case "video/x-h264":
      let format = structure.string("stream-format")
      let alignment = structure.string("alignment")
      guard format == "byte-stream", alignment == "au" else {
        return .stream(
          GST_STREAM_ERROR_FORMAT,
          "H.264 must come as a byte stream of whole access units, not as \(format ?? "unknown")/\(alignment ?? "unknown"): put h264parse before sdlvideosink."
        )
      }
      return profileRejectionReason(structure)
    case let other:
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(other) can't be shown: sdlvideosink takes raw video (put videoconvert before it) and H.264 (h264parse).")
    }
  }

  private static func profileRejectionReason(_ structure: StructureView) -> ElementError? {
    guard let profile = structure.string("profile"), !SinkCaps.profiles.contains(profile) else { return nil }
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "H.264 of the profile \(profile) can't be decoded by head units: put video/x-raw,format=I420 before the encoder, or ask it for constrained-baseline."
    )
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

  /// H.264 whose caps do not tell the profile is believed.
  static func lacksProfile(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = StructureView(caps: caps, 0), structure.hasName("video/x-h264"), !structure.has("profile")
    else { return false }
    return structure.string("stream-format") == "byte-stream" && structure.string("alignment") == "au"
  }
}
