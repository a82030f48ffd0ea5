import GStreamerKit
import H264
import SDLApp
import X264Encoder

/// The format of upstream's next pictures, from caps.
struct InputCaps {
  enum Format {
    case raw(GstVideoInfo)
    /// With a configuration if its NAL units have lengths in front.
    case h264(DecoderConfiguration?)
  }

  let format: Format
  /// Nil for a variable rate. A maximum rate counts as the rate.
  let frameRate: Fraction?
  /// Nil for H.264 whose caps have no size.
  let size: VideoSize?

  /// Nil for raw video that is not described in full, and for H.264 whose `codec_data` can't be read.
  init?(_ caps: UnsafeMutablePointer<GstCaps>) {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    if structure.hasName("video/x-h264") {
      guard let format = H264Caps(structure).format else { return nil }
      self.format = format
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

  var isRaw: Bool { if case .raw = format { true } else { false } }

  /// Head units have square pixels.
  var pixelWarning: ElementError? {
    switch format {
    case .raw(let info) where info.par_n != info.par_d:
      return Self.pixelWarning(Int(info.par_n), Int(info.par_d), remedy: "Put videoconvertscale before sdlvideosink.")
    case .raw: return nil
    case .h264(let configuration): return configuration?.sequenceParameterSet?.pixelWarning
    }
  }

  fileprivate static func pixelWarning(_ width: Int, _ height: Int, remedy: String) -> ElementError {
    .stream(
      GST_STREAM_ERROR_FORMAT,
      """
      The pixels of the input are not square (\(width)/\(height)), but the head unit's are: the picture is stretched. \
      \(remedy)
      """
    )
  }
}

/// Why caps that the core is about to refuse can't be used.
extension InputCaps {
  /// Nil when they can be used.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    switch structure.name {
    case "video/x-raw": return rawRejectionReason(caps, structure)
    case "video/x-h264": return H264Caps(structure).rejectionReason
    case let other:
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(other) can't be shown: sdlvideosink takes raw video (put videoconvert before it) and H.264 (h264parse).")
    }
  }

  private static func rawRejectionReason(
    _ caps: UnsafeMutablePointer<GstCaps>, _ structure: StructureView
  ) -> ElementError? {
    let missing = ["format", "width", "height", "framerate"].filter { !structure.has($0) }
    guard missing.isEmpty else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        """
        The caps of the raw video lack \(missing.joined(separator: ", ")): set them where the video comes from, such \
        as appsrc, in full, for example video/x-raw,format=I420,width=800,height=480,framerate=30/1 (0/1 for a \
        variable rate).
        """
      )
    }
    let features = String(freeing: gst_caps_features_to_string(gst_caps_get_features(caps, 0))) ?? ""
    guard features == "memory:SystemMemory" else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        """
        Raw video with \(features) can't be read: put the element before sdlvideosink that copies it to plain memory, \
        such as gldownload, cudadownload or vapostproc.
        """
      )
    }
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps) != 0 else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "The caps of the raw video can't be read: put videoconvertscale before sdlvideosink.")
    }
    let format = cgst_video_info_format(&info)
    guard PixelFormat(format) != nil else {
      let name = gst_video_format_to_string(format).map { String(cString: $0) } ?? "this format"
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "\(name) can't be encoded: put videoconvert before sdlvideosink (it takes I420, YV12, NV12, NV21).")
    }
    guard info.interlace_mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE else {
      return interlaced(remedy: "put deinterlace before sdlvideosink.")
    }
    guard info.width.isMultiple(of: 2), info.height.isMultiple(of: 2), min(info.width, info.height) >= 16,
      max(info.width, info.height) <= 8192,
      EncoderSettings.canEncode(width: Int(info.width), height: Int(info.height))
    else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        """
        \(info.width)×\(info.height) can't be encoded: sides must be even and between 16 and 8192, and the area \
        within H.264 level 6.2. Put videoconvertscale before sdlvideosink.
        """
      )
    }
    return nil
  }

  fileprivate static func interlaced(remedy: String) -> ElementError {
    .stream(GST_STREAM_ERROR_FORMAT, "Interlaced video can't be shown by a head unit: \(remedy)")
  }

  /// Whether caps are H.264 that the sink takes, even if they leave fields open.
  static func isH264(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = StructureView(caps: caps, 0), structure.hasName("video/x-h264") else { return false }
    return H264Caps(structure).isTaken
  }
}

struct H264Caps {
  private enum CodecData {
    case missing
    case malformed(DecoderConfiguration.Malformed)
    case read(DecoderConfiguration)
  }

  private let structure: StructureView

  /// Reads a structure with the name `video/x-h264`.
  init(_ structure: StructureView) {
    self.structure = structure
  }

  /// Nil for a form that the sink does not take, and for `codec_data` that can't be read.
  var format: InputCaps.Format? {
    guard isFormTaken else { return nil }
    guard isLengthPrefixed else { return .h264(nil) }
    guard case .read(let configuration) = codecData else { return nil }
    return .h264(configuration)
  }

  /// Why the stream can't be passed on; nil when it can.
  var rejectionReason: ElementError? {
    guard isFormTaken else {
      let (format, alignment) = (structure.string("stream-format"), structure.string("alignment"))
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        """
        H.264 must come in whole access units, as a byte stream or as avc, not as \
        \(format ?? "unknown")/\(alignment ?? "unknown"): put h264parse before sdlvideosink.
        """
      )
    }
    if let profile = structure.string("profile"), !SinkCaps.profiles.contains(profile) {
      return Self.profileError(profile)
    }
    guard isLengthPrefixed else { return nil }
    switch codecData {
    case .missing:
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        """
        H.264 as avc needs codec_data in its caps: keep the caps of the demuxer or encoder, or let h264parse \
        convert the stream to a byte stream where they are still there.
        """
      )
    case .malformed(let reason):
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "The codec_data of the H.264 stream is damaged (\(reason)): mux the file again from its source.")
    case .read(let configuration): return configuration.rejectionReason
    }
  }

  /// Whether the sink takes this, as far as the caps tell. Caps of demuxers may lack the profile, or the alignment,
  /// which is always access units in files.
  var isTaken: Bool { isFormTaken && structure.string("profile").map(SinkCaps.profiles.contains) ?? true }

  private var isLengthPrefixed: Bool {
    let format = structure.string("stream-format")
    return format == "avc" || format == "avc3"
  }

  private var isFormTaken: Bool {
    let alignment = structure.string("alignment")
    if isLengthPrefixed { return alignment == nil || alignment == "au" }
    return structure.string("stream-format") == "byte-stream" && alignment == "au"
  }

  private var codecData: CodecData {
    structure.withBytes("codec_data") { bytes in
      do throws(DecoderConfiguration.Malformed) {
        return .read(try DecoderConfiguration(bytes))
      } catch {
        return .malformed(error)
      }
    } ?? .missing
  }

  fileprivate static func profileError(_ profile: String) -> ElementError {
    .stream(
      GST_STREAM_ERROR_FORMAT,
      """
      H.264 of the profile \(profile) can't be decoded by head units: put video/x-raw,format=I420 before the encoder, \
      or ask it for constrained-baseline.
      """
    )
  }
}

extension SequenceParameterSet {
  /// Why head units can't show the stream; nil when they can.
  var rejectionReason: ElementError? {
    guard isCommonProfile else { return H264Caps.profileError(profileName) }
    guard frameMBSOnly else {
      return InputCaps.interlaced(
        remedy: "decode it, and put deinterlace before sdlvideosink, as avdec_h264 ! deinterlace.")
    }
    return nil
  }

  /// Nil for square pixels, and for those of unknown shape.
  var pixelWarning: ElementError? {
    guard let ratio = sampleAspectRatio, !ratio.isSquare else { return nil }
    return InputCaps.pixelWarning(
      ratio.width, ratio.height,
      remedy: "Put video/x-raw,pixel-aspect-ratio=1/1 before the encoder, or videoconvertscale behind a decoder.")
  }
}

extension DecoderConfiguration {
  /// The first sequence parameter set that can be read.
  var sequenceParameterSet: SequenceParameterSet? {
    sequenceParameterSets.lazy.compactMap { try? SequenceParameterSet(nalUnit: $0) }.first
  }

  /// Why head units can't decode the stream; nil when they can.
  fileprivate var rejectionReason: ElementError? { sequenceParameterSet?.rejectionReason }
}

extension DecoderConfiguration.Malformed: CustomStringConvertible {
  package var description: String {
    switch self {
    case .truncated: "it ends too early"
    case .unsupportedVersion(let version): "its version is \(version), not 1"
    case .unexpectedNALUnit(let type): "a NAL unit of type \(type.rawValue) is among the parameter sets"
    }
  }
}

extension NALUnitLengthError {
  /// Ends the stream, because it is not known any more where the next NAL unit begins.
  var elementError: ElementError {
    let announced = length.map { "\($0) bytes are announced" } ?? "a length is cut off"
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      """
      The H.264 stream is damaged: \(announced) for a NAL unit where \(availableByteCount) are left. Mux the file \
      again from its source; if another element has changed the stream, its caps must say so (stream-format).
      """
    )
  }
}
