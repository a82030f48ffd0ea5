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
    guard let caps = gst_caps_from_string(Self.caps(parameters)) else { return true }
    defer { gst_caps_unref(caps) }
    if let current = gst_pad_get_current_caps(cgst_base_src_pad(source)) {
      defer { gst_caps_unref(current) }
      if gst_caps_is_equal(current, caps) != 0 { return true }
    }
    reporter.log(GST_LEVEL_INFO, "the video is now \(Self.caps(parameters))")
    return gst_base_src_set_caps(source, caps) != 0
  }

  /// What is unknown is left out.
  private static func caps(_ parameters: SequenceParameterSet?) -> String {
    var text = "video/x-h264,stream-format=byte-stream,alignment=au"
    guard let parameters else { return text }
    text += ",width=\(parameters.width),height=\(parameters.height)"
    if let rate = parameters.frameRate, let numerator = Int32(exactly: rate.numerator),
      let denominator = Int32(exactly: rate.denominator)
    {
      text += ",framerate=\(numerator)/\(denominator)"
    }
    return text
  }
}
