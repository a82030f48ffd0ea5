import GStreamerKit
import SDLApp

/// Caps: the one format that the head unit plays, and the format that upstream sends.
extension AudioSink {
  /// The answer to a CAPS query; nil, which stands for the template, until the head unit is known.
  func caps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    guard let format = app?.status.pcmFormat else { return nil }
    let caps = format.caps
    guard let filter else { return caps.take() }
    let wanted = Caps(retaining: filter)
    let common = wanted.intersected(with: caps)
    // Upstream may have chosen its first caps before the head unit was known. Transform elements ask about them with a
    // filter, and an empty intersection would end the pipeline. So they pass, and upstream is asked for others when
    // they come.
    guard common.isEmpty, stream != nil, gst_pad_has_current_caps(pad) == 0 else { return common.take() }
    return wanted.intersected(with: Caps.template(of: pad)).take()
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_ACCEPT_CAPS else {
      return answerByParent(query)
    }
    // Any format of SDL stays acceptable: an error that names the cause helps more than a link that fails.
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(query, &caps)
    guard let caps else { return false }
    let isAccepted = Caps(retaining: caps).isSubset(of: Caps.template(of: pad))
    gst_query_set_accept_caps_result(query, isAccepted ? 1 : 0)
    return true
  }
}

/// Why caps that the core is about to refuse can't be used.
enum AudioCaps {
  private static let advice = "put audioconvert ! audioresample before sdlaudiosink"

  /// Nil when they can be used.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    guard structure.hasName("audio/x-raw") else {
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(structure.name) can't be played: sdlaudiosink takes raw sound (put decodebin and audioconvert before it).")
    }
    guard PCMFormat(structure) == nil else { return nil }
    let format = structure.string("format") ?? "unknown"
    let (rate, channels) = (structure.integer("rate") ?? 0, structure.integer("channels") ?? 0)
    let layout = structure.string("layout").map { " (\($0))" } ?? ""
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "Head units play one channel of S16LE or U8 at 8000, 16000, 22000 or 44000 Hz, but the input is \(format) at \(rate) Hz with \(channels) channel(s)\(layout): \(advice)."
    )
  }
}
