import GStreamerKit
import H264

/// Caps with what the stream itself says: they come before the first picture, and change where it does.
extension HeadUnitSourceRun {
  /// Sets new caps in front of `unit` if its sequence parameter set asks for that; false when downstream refuses them.
  func updateCaps(for unit: QueuedAccessUnit, of source: UnsafeMutablePointer<GstBaseSrc>) -> Bool {
    guard let range = unit.summary.sequenceParameterSet else { return true }
    let bytes = unit.bytes[range]
    let isNew = output.withLock { output in
      if output.sequenceParameterSet.elementsEqual(bytes) { return false }
      output.sequenceParameterSet = Array(bytes)
      return true
    }
    guard isNew else { return true }
    let parameters = try? SequenceParameterSet(nalUnit: bytes)
    if let rate = parameters?.frameRate, rate.numerator > 0 {
      let duration = Duration.seconds(rate.denominator) / rate.numerator
      output.withLock { $0.frameDuration = UInt64(clamping: duration.nanoseconds) }
    }
    let caps = Self.caps(parameters, checksum: Self.checksum(of: bytes))
    if let current = Caps.current(of: cgst_base_src_pad(source)), current.isEqual(to: caps) { return true }
    reporter.log(GST_LEVEL_INFO, "the video is now \(caps.text)")
    return gst_base_src_set_caps(source, caps.pointer) != 0
  }

  /// What is unknown is left out.
  private static func caps(_ parameters: SequenceParameterSet?, checksum: String?) -> Caps {
    let structure = Structure("video/x-h264")
    structure.set("stream-format", "byte-stream")
    structure.set("alignment", "au")
    if let parameters {
      structure.set("width", Int32(clamping: parameters.width))
      structure.set("height", Int32(clamping: parameters.height))
      if let rate = parameters.frameRate, let numerator = Int32(exactly: rate.numerator),
        let denominator = Int32(exactly: rate.denominator), denominator != 0
      {
        structure.setFraction("framerate", (numerator, denominator))
      }
    }
    // qtmux goes on in the same file when only the size, the profile or the codec data change, and then describes the
    // last picture of the former stream by the parameter sets of the new one. Fields that it doesn't know it compares.
    structure.set("sps-checksum", checksum)
    return Caps(structure)
  }

  /// Short, because an app may send a sequence parameter set of any length.
  private static func checksum(of bytes: ArraySlice<UInt8>) -> String? {
    let text = bytes.withUnsafeBufferPointer {
      g_compute_checksum_for_data(G_CHECKSUM_MD5, $0.baseAddress, gsize($0.count))
    }
    defer { g_free(text) }
    return text.map { String(cString: $0) }
  }
}
